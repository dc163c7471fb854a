// SPDX-License-Identifier: BSD-3-Clause
//! How objects end: every part ends, whatever fails on the way, and the first failure is reported.

use crate::error::Result;

/// An object that reports when it fails to end. Dropping it ends it without a report: that is the
/// undo path of a constructor.
pub(crate) trait End {
    fn end(self) -> Result;
}

impl<T: End> End for Option<T> {
    fn end(self) -> Result {
        self.map_or(Ok(()), T::end)
    }
}

/// Declares a struct whose fields end in the order of their declaration, both by [`End`] and when
/// it is dropped.
macro_rules! end_in_order {
    (
        $(#[$attribute:meta])*
        struct $name:ident { $($(#[$field_attribute:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$attribute])*
        struct $name { $($(#[$field_attribute])* $field: $type,)* }

        impl $crate::teardown::End for $name {
            fn end(self) -> $crate::error::Result {
                let Self { $($field),* } = self;
                let mut first = Ok(());
                $(
                    let result = $crate::teardown::End::end($field);
                    first = first.and(result);
                )*
                first
            }
        }
    };
}
pub(crate) use end_in_order;

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::error::Failure;

    std::thread_local! {
        static ENDED: RefCell<Vec<i32>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn all_fields_end_in_order_and_the_first_failure_is_reported() {
        struct Numbered(i32);
        impl End for Numbered {
            fn end(self) -> Result {
                ENDED.with_borrow_mut(|ended| ended.push(self.0));
                if self.0 == 1 { Ok(()) } else { Err(Failure::provider(self.0)) }
            }
        }
        end_in_order! {
            struct Three { a: Numbered, b: Option<Numbered>, c: Numbered, }
        }
        let three = Three { a: Numbered(1), b: Some(Numbered(2)), c: Numbered(3) };
        assert_eq!(three.end(), Err(Failure::provider(2)));
        assert_eq!(ENDED.take(), [1, 2, 3]);
    }
}
