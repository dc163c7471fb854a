// SPDX-License-Identifier: BSD-3-Clause
//! Log messages: thresholds, the user's log function, and the default one (stderr and syslog).
//!
//! Messages are put together in a buffer on the stack. Logging never allocates and never changes
//! `errno`, not even when the user's function does.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, transmute};
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use libc::{c_char, c_int, c_void};

use crate::error::{Checked, Error, errno};
use crate::ffi::{self, Out};

/// The importance of a message. A lower number is more important.
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_log_level {
    /// As a threshold: no message at all. No message has this level.
    RPMA_LOG_DISABLED = -1,
    /// The library cannot go on. Not used so far.
    RPMA_LOG_LEVEL_FATAL,
    /// A call failed, or an argument that came from elsewhere is wrong.
    RPMA_LOG_LEVEL_ERROR,
    /// Something unexpected that the library can cope with.
    RPMA_LOG_LEVEL_WARNING,
    /// A step in the life of a connection.
    RPMA_LOG_LEVEL_NOTICE,
    /// What the library found out about a device or a peer.
    RPMA_LOG_LEVEL_INFO,
    /// Details for debugging.
    RPMA_LOG_LEVEL_DEBUG,
}

/// Selects a threshold.
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_log_threshold {
    /// Messages up to this level go to the log function. WARNING at first.
    RPMA_LOG_THRESHOLD,
    /// Messages up to this level go from the default log function to stderr too. DISABLED at
    /// first.
    RPMA_LOG_THRESHOLD_AUX,
    /// The number of thresholds.
    RPMA_LOG_THRESHOLD_MAX,
}

/// `enum rpma_log_level` as a caller may really pass it.
#[allow(non_camel_case_types)]
pub type rpma_log_level_raw = c_int;

/// `enum rpma_log_threshold` as a caller may really pass it.
#[allow(non_camel_case_types)]
pub type rpma_log_threshold_raw = c_int;

/// A log function of the user's.
///
/// It may be called from several threads at once, and must not call back into the library but
/// for the rpma_log_*() functions. Strings are valid during the call only. The message ends with a
/// newline.
///
/// - `level`: level of the message.
/// - `file_name`, `line_no`: the place that tells the message, in the source of the library.
/// - `function_name`: what the message is about: a function of this library, or the call into
///   libibverbs or librdmacm that failed.
/// - `message_format`: printf(3) format of the message, followed by its arguments.
// Stands for the C function type, of which only pointers occur.
#[allow(non_camel_case_types)]
pub struct rpma_log_function {
    _function: c_void,
}

/// How a log function is called.
type LogFunction = unsafe extern "C" fn(
    level: rpma_log_level_raw,
    file_name: *const c_char,
    line_no: c_int,
    function_name: *const c_char,
    message_format: *const c_char,
    ...
);

/// Sets one of the two logging thresholds.
///
/// A message passes a threshold when its level is not above it; RPMA_LOG_DISABLED lets nothing
/// pass. The environment variables `RPMA_LOG` and `RPMA_LOG_STDERR` set the same thresholds when
/// the library is loaded; what this function sets wins.
///
/// # Parameters
///
/// - `threshold`: which of the two.
/// - `level`: the new value.
///
/// # Errors
///
/// - RPMA_E_INVAL: `threshold` or `level` is none of those.
///
/// # Safety
///
/// Always safe.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_log_set_threshold(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_log_set_threshold(
    threshold: rpma_log_threshold_raw,
    level: rpma_log_level_raw,
) -> c_int {
    ffi::access(|| set_threshold(threshold, level))
}

/// Gets one of the two logging thresholds.
///
/// # Parameters
///
/// - `threshold`: which of the two.
/// - `level`: where the value goes.
///
/// # Errors
///
/// - RPMA_E_INVAL: `threshold` is neither, or `level` is NULL.
///
/// # Safety
///
/// `level` is NULL or writable.
///
/// # Thread safety
///
/// May be called from any thread at any time.
///
/// # Manual page
///
/// rpma_log_get_threshold(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_log_get_threshold(
    threshold: rpma_log_threshold_raw,
    level: *mut rpma_log_level_raw,
) -> c_int {
    ffi::access(|| {
        // SAFETY: the caller's promise 2 for `level`.
        let level = unsafe { Out::new(level) }?;
        level.set(threshold_cell(threshold)?.load(Ordering::Relaxed));
        Ok(())
    })
}

/// Sets the function that gets the log messages.
///
/// It gets those that pass RPMA_LOG_THRESHOLD. The default function writes to stderr those that
/// pass RPMA_LOG_THRESHOLD_AUX, too, and all of them to syslog(3) with the facility LOCAL7.
///
/// Its parameters are the level of the message; file, line and function of the library's source
/// that it comes from; and a printf(3) format with its arguments, which gives one line with a
/// newline at its end. It may be called from several threads at once, must not call functions of
/// this library but rpma_log_set_threshold(), rpma_log_get_threshold() and rpma_log_set_function(),
/// and what it does to errno does not show.
///
/// # Parameters
///
/// - `log_function`: the function, or NULL (RPMA_LOG_USE_DEFAULT_FUNCTION) for the default one.
///
/// # Errors
///
/// None.
///
/// # Safety
///
/// `log_function` is NULL or a function of this type that can be called as long as it is set.
///
/// # Thread safety
///
/// May be called from any thread at any time. A function that is replaced may still be running in
/// another thread when this call returns.
///
/// # Manual page
///
/// rpma_log_set_function(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_log_set_function(log_function: *mut rpma_log_function) -> c_int {
    FUNCTION.store(log_function, Ordering::Release);
    0
}

/// The level of a message of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Level {
    Error = rpma_log_level::RPMA_LOG_LEVEL_ERROR as c_int,
    Warning = rpma_log_level::RPMA_LOG_LEVEL_WARNING as c_int,
    Notice = rpma_log_level::RPMA_LOG_LEVEL_NOTICE as c_int,
    Info = rpma_log_level::RPMA_LOG_LEVEL_INFO as c_int,
    Debug = rpma_log_level::RPMA_LOG_LEVEL_DEBUG as c_int,
}

const DISABLED: c_int = rpma_log_level::RPMA_LOG_DISABLED as c_int;
const DEBUG: c_int = rpma_log_level::RPMA_LOG_LEVEL_DEBUG as c_int;

static THRESHOLD: AtomicI32 = AtomicI32::new(Level::Warning as c_int);
static THRESHOLD_AUX: AtomicI32 = AtomicI32::new(DISABLED);
/// The user's function, or NULL for the default one.
static FUNCTION: AtomicPtr<rpma_log_function> = AtomicPtr::new(null_mut());

fn threshold_cell(threshold: c_int) -> Checked<&'static AtomicI32> {
    const PRIMARY: c_int = rpma_log_threshold::RPMA_LOG_THRESHOLD as c_int;
    const AUX: c_int = rpma_log_threshold::RPMA_LOG_THRESHOLD_AUX as c_int;
    match threshold {
        PRIMARY => Ok(&THRESHOLD),
        AUX => Ok(&THRESHOLD_AUX),
        _ => Err(Error::Inval),
    }
}

fn set_threshold(threshold: c_int, level: c_int) -> Checked {
    let cell = threshold_cell(threshold)?;
    if !(DISABLED..=DEBUG).contains(&level) {
        return Err(Error::Inval);
    }
    cell.store(level, Ordering::Relaxed);
    Ok(())
}

#[inline]
pub(crate) fn enabled(level: Level) -> bool {
    level as c_int <= THRESHOLD.load(Ordering::Relaxed)
}

/// Sets the thresholds from `RPMA_LOG` and `RPMA_LOG_STDERR`, for users who cannot change the
/// program. Called once, when the library is loaded.
pub(crate) fn configure() {
    let primary = Setting::read(c"RPMA_LOG");
    let aux = Setting::read(c"RPMA_LOG_STDERR");
    if let Some(level) = primary.level() {
        THRESHOLD.store(level, Ordering::Relaxed);
    }
    if let Some(level) = aux.level() {
        THRESHOLD_AUX.store(level, Ordering::Relaxed);
        if primary.level().is_none() {
            THRESHOLD.fetch_max(level, Ordering::Relaxed);
        }
    }
    primary.warn();
    // Who wants messages on stderr looks there for what is wrong with the wish.
    if aux.is_wrong() {
        THRESHOLD_AUX.store(Level::Warning as c_int, Ordering::Relaxed);
        aux.warn();
        THRESHOLD_AUX.store(DISABLED, Ordering::Relaxed);
    }
}

/// A variable that names a level, or something else.
struct Setting {
    name: &'static CStr,
    value: Option<&'static CStr>,
}

impl Setting {
    fn read(name: &'static CStr) -> Self {
        Self { name, value: environment(name) }
    }

    fn level(&self) -> Option<c_int> {
        parse_level(self.value?)
    }

    fn is_wrong(&self) -> bool {
        self.value.is_some() && self.level().is_none()
    }

    fn warn(&self) {
        if self.is_wrong() {
            let value = Part::Quoted(self.value.map(Text::new));
            log!(Warning, c"rpma_log", self.name, c": unknown level ", value, c"; ignored");
        }
    }
}

fn parse_level(name: &CStr) -> Option<c_int> {
    const NAMES: [&CStr; 7] =
        [c"disabled", c"fatal", c"error", c"warning", c"notice", c"info", c"debug"];
    (DISABLED..).zip(NAMES).find(|(_, known)| *known == name).map(|(level, _)| level)
}

unsafe extern "C" {
    /// The C library's; the libc crate does not declare it.
    fn secure_getenv(name: *const c_char) -> *mut c_char;
}

/// The value of an environment variable; none in a setuid program.
pub(crate) fn environment(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: `name` is a C string. We are called while the library is loaded, before the
    // program can change its environment, and do not keep the value.
    unsafe {
        let value = secure_getenv(name.as_ptr());
        if value.is_null() { None } else { Some(CStr::from_ptr(value)) }
    }
}

/// A C string by its address alone. Code that logs passes several of them, and stays small so.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a>(NonNull<c_char>, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    pub(crate) const fn new(text: &'a CStr) -> Self {
        // SAFETY: no reference is NULL.
        Self(unsafe { NonNull::new_unchecked(text.as_ptr().cast_mut()) }, PhantomData)
    }

    /// A string argument of a call; none for NULL.
    ///
    /// # Safety
    ///
    /// `text` is NULL or a C string that lives long enough.
    pub(crate) unsafe fn argument(text: *const c_char) -> Option<Self> {
        NonNull::new(text.cast_mut()).map(|text| Self(text, PhantomData))
    }

    fn as_ptr(self) -> *const c_char {
        self.0.as_ptr()
    }

    fn to_bytes(self) -> &'a [u8] {
        // SAFETY: made of a C string that lives long enough.
        unsafe { CStr::from_ptr(self.as_ptr()) }.to_bytes()
    }
}

/// Where in the source a message is told.
struct Place<'a> {
    file: Text<'a>,
    line: c_int,
    function: Text<'a>,
}

/// The length of the part of `path` behind its last slash, with a NUL.
pub(crate) const fn base_name_len(path: &str) -> usize {
    let mut len = 1;
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        len = if *first == b'/' { 1 } else { len + 1 };
        rest = tail;
    }
    len
}

/// The part of `path` behind its last slash, with a NUL; `N` is its length.
pub(crate) const fn base_name<const N: usize>(path: &str) -> [u8; N] {
    let (_, name) = path.as_bytes().split_at(path.len() + 1 - N);
    let mut bytes = [0; N];
    let mut left: (&mut [u8], &[u8]) = (&mut bytes, name);
    while let ([to, to_rest @ ..], [from, from_rest @ ..]) = left {
        *to = *from;
        left = (to_rest, from_rest);
    }
    bytes
}

/// The name of this source file.
macro_rules! file_name {
    () => {{
        const LEN: usize = $crate::log::base_name_len(file!());
        // Only the name itself gets into the library, not the path.
        const FILE: [u8; LEN] = $crate::log::base_name(file!());
        const NAME: &core::ffi::CStr = match core::ffi::CStr::from_bytes_with_nul(&FILE) {
            Ok(name) => name,
            Err(_) => c"",
        };
        $crate::log::Text::new(NAME)
    }};
}
pub(crate) use file_name;

/// Logs the given parts as one message: `log!(Error, c"function", c"text ", 42_u64)`.
macro_rules! log {
    ($level:ident, $function:expr, $($part:expr),+ $(,)?) => {
        if $crate::log::enabled($crate::log::Level::$level) {
            $crate::log::send(
                $crate::log::Level::$level,
                $crate::log::file_name!(),
                line!(),
                $crate::log::Text::new($function),
                &[$( $crate::log::Part::from($part) ),+],
            );
        }
    };
}
pub(crate) use log;

/// What a message is made of.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Text(Text<'a>),
    /// A text in quotation marks, or NULL.
    Quoted(Option<Text<'a>>),
    Number(u64),
    Hex(u64),
    /// The text of an `errno` value.
    Cause(c_int),
    /// The text of an EAI code.
    Resolver(c_int),
}

impl<'a> From<&'a CStr> for Part<'a> {
    fn from(text: &'a CStr) -> Self {
        Self::Text(Text::new(text))
    }
}

impl From<u64> for Part<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// A message under construction: cut where it is too long, always with room for its end.
pub(crate) struct Message {
    text: [u8; Self::SIZE],
    len: usize,
}

impl Message {
    const SIZE: usize = 1024;
    /// A newline and the terminating NUL.
    const END: usize = 2;
    /// A caller's text must leave room for what is said of it.
    const MAX_QUOTED: usize = 200;

    const fn new() -> Self {
        Self { text: [0; Self::SIZE], len: 0 }
    }

    /// Appends a byte; one that would break the line is shown as a question mark.
    fn byte(&mut self, byte: u8) {
        let byte = if byte.is_ascii_control() { b'?' } else { byte };
        if self.len < Self::SIZE - Self::END {
            if let Some(slot) = self.text.get_mut(self.len) {
                *slot = byte;
                self.len += 1;
            }
        }
    }

    #[inline(never)]
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    fn part(&mut self, part: Part) {
        match part {
            Part::Text(text) => self.bytes(text.to_bytes()),
            Part::Quoted(None) => self.bytes(b"NULL"),
            Part::Quoted(Some(text)) => {
                let text = text.to_bytes();
                self.byte(b'"');
                self.bytes(text.get(..Self::MAX_QUOTED).unwrap_or(text));
                self.bytes(if text.len() > Self::MAX_QUOTED { b"...\"" } else { b"\"" });
            }
            Part::Number(number) => self.number(number, 10, 1),
            Part::Hex(number) => {
                self.bytes(b"0x");
                self.number(number, 16, 1);
            }
            Part::Cause(errno) => self.cause(errno),
            Part::Resolver(code) => {
                // SAFETY: gives a constant string for every number.
                self.bytes(unsafe { CStr::from_ptr(libc::gai_strerror(code)) }.to_bytes());
            }
        }
    }

    fn cause(&mut self, errno: c_int) {
        let mut text: [c_char; 128] = [0; 128];
        // SAFETY: the buffer has the given size. The text is cut and terminated where it is too
        // long; for an unknown number it says so.
        unsafe { libc::strerror_r(errno, text.as_mut_ptr(), text.len()) };
        // SAFETY: the buffer began as zeros and its last byte is never written but with zero.
        self.bytes(unsafe { CStr::from_ptr(text.as_ptr()) }.to_bytes());
    }

    /// `value` in base 10 or 16, padded with zeros to `width`.
    #[inline(never)]
    fn number(&mut self, value: u64, base: u8, width: u32) {
        let (head, digit) = match base {
            16 => (value / 16, value % 16),
            _ => (value / 10, value % 10),
        };
        if head != 0 || width > 1 {
            self.number(head, base, width.saturating_sub(1));
        }
        let digit = digit as u8;
        self.byte(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
    }

    /// Ends the message with a newline. Nothing may be appended after that.
    fn end(&mut self) {
        if let Some([newline, nul]) = self.text.get_mut(self.len..self.len + Self::END) {
            *newline = b'\n';
            *nul = 0;
        }
        self.len += 1;
    }

    fn as_bytes(&self) -> &[u8] {
        self.text.get(..self.len).unwrap_or(&[])
    }

    fn as_ptr(&self) -> *const c_char {
        self.text.as_ptr().cast()
    }
}

/// Puts the message together and hands it to the log function.
#[cold]
#[inline(never)]
pub(crate) fn send(level: Level, file: Text, line: u32, function: Text, parts: &[Part]) {
    let errno_before = errno::get();
    let mut message = Message::new();
    for part in parts {
        message.part(*part);
    }
    message.end();
    // No file has that many lines.
    let place = Place { file, line: line as c_int, function };
    deliver(level, &place, &message);
    errno::set(errno_before);
}

fn deliver(level: Level, place: &Place, message: &Message) {
    // Read once: another thread may replace it between a check and the call.
    let function = FUNCTION.load(Ordering::Acquire);
    if function.is_null() {
        default_function(level, place, message);
        return;
    }
    // SAFETY: only `rpma_log_set_function` stores here, and it stores functions of this type.
    let function = unsafe { transmute::<*mut rpma_log_function, LogFunction>(function) };
    // SAFETY: the user promised a function that can be called as long as it is set, and all the
    // strings live until the call returns.
    unsafe {
        function(
            level as c_int,
            place.file.as_ptr(),
            place.line,
            place.function.as_ptr(),
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
}

fn default_function(level: Level, place: &Place, message: &Message) {
    if level as c_int <= THRESHOLD_AUX.load(Ordering::Relaxed) {
        let mut line = Message::new();
        append_time(&mut line);
        append_thread(&mut line);
        append_event(&mut line, level, place, message);
        line.end();
        let text = line.as_bytes();
        // One write, so that lines of several threads do not mix. There is nobody to tell of a
        // failure.
        // SAFETY: the buffer has the given length.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
    }
    let mut line = Message::new();
    append_identity(&mut line);
    append_event(&mut line, level, place, message);
    line.end();
    // The facility goes with the message: openlog(3) would take over the application's identity.
    // SAFETY: a constant format for one string argument.
    unsafe {
        libc::syslog(libc::LOG_LOCAL7 | syslog_priority(level), c"%s".as_ptr(), line.as_ptr());
    }
}

const fn syslog_priority(level: Level) -> c_int {
    match level {
        Level::Error => libc::LOG_ERR,
        Level::Warning => libc::LOG_WARNING,
        Level::Notice => libc::LOG_NOTICE,
        Level::Info => libc::LOG_INFO,
        Level::Debug => libc::LOG_DEBUG,
    }
}

/// `Mon DD HH:MM:SS.uuuuuu `, in local time.
fn append_time(line: &mut Message) {
    let mut text = [0_u8; 32];
    let mut micros = 0;
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    let mut parts = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: all buffers are ours, zeroed, and of the sizes given.
    let len = unsafe {
        if libc::clock_gettime(libc::CLOCK_REALTIME, now.as_mut_ptr()) == 0 {
            let now = now.assume_init();
            libc::localtime_r(&now.tv_sec, parts.as_mut_ptr());
            micros = now.tv_nsec as u64 / 1000;
        }
        let format = c"%b %d %H:%M:%S".as_ptr();
        libc::strftime(text.as_mut_ptr().cast(), text.len(), format, parts.as_ptr())
    };
    line.bytes(text.get(..len).unwrap_or(&[]));
    line.byte(b'.');
    line.number(micros, 10, 6);
    line.byte(b' ');
}

/// `[thread id] `.
fn append_thread(line: &mut Message) {
    // SAFETY: no preconditions. The C library's `gettid` is younger than some of them.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    line.byte(b'[');
    line.number(thread.unsigned_abs(), 10, 1);
    line.bytes(b"] ");
}

/// `rpma[process id]: `.
fn append_identity(line: &mut Message) {
    // SAFETY: no preconditions.
    let process = unsafe { libc::getpid() };
    line.bytes(b"rpma[");
    line.number(process.unsigned_abs().into(), 10, 1);
    line.bytes(b"]: ");
}

/// `*LEVEL* file: line: function: message`, the level padded to 8 and the line to 3.
fn append_event(line: &mut Message, level: Level, place: &Place, message: &Message) {
    line.bytes(match level {
        Level::Error => b"*ERROR* ",
        Level::Warning => b"*WARN*  ",
        Level::Notice => b"*NOTE*  ",
        Level::Info => b"*INFO*  ",
        Level::Debug => b"*DEBUG* ",
    });
    line.bytes(place.file.to_bytes());
    line.bytes(b": ");
    for width in [100, 10] {
        if place.line < width {
            line.byte(b' ');
        }
    }
    line.number(place.line.unsigned_abs().into(), 10, 1);
    line.bytes(b": ");
    line.bytes(place.function.to_bytes());
    line.bytes(b": ");
    line.bytes(message.as_bytes().strip_suffix(b"\n").unwrap_or(&[]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(build: impl FnOnce(&mut Message)) -> String {
        let mut message = Message::new();
        build(&mut message);
        message.end();
        String::from_utf8_lossy(message.as_bytes()).into_owned()
    }

    proptest! {
        #[test]
        fn numbers_are_exact(number: u64) {
            prop_assert_eq!(text(|m| m.part(Part::Number(number))), format!("{number}\n"));
            prop_assert_eq!(text(|m| m.part(Part::Hex(number))), format!("{number:#x}\n"));
        }

        #[test]
        fn a_message_of_any_length_ends_with_a_newline_and_a_nul(len in 0_usize..3000) {
            let mut message = Message::new();
            message.bytes(&vec![b'x'; len]);
            message.end();
            let kept = len.min(Message::SIZE - Message::END);
            prop_assert_eq!(message.as_bytes().len(), kept + 1);
            prop_assert_eq!(message.as_bytes().last(), Some(&b'\n'));
            prop_assert_eq!(message.text[kept + 1], 0);
        }

        #[test]
        fn only_the_known_names_are_levels(name in "[a-z]{0,10}") {
            let known =
                ["disabled", "fatal", "error", "warning", "notice", "info", "debug"];
            let expected = known.iter().position(|k| **k == name).map(|at| at as c_int - 1);
            let name = std::ffi::CString::new(name).map_err(|_| TestCaseError::reject("NUL"))?;
            prop_assert_eq!(parse_level(&name), expected);
        }
    }

    #[test]
    fn a_quoted_text_stays_on_the_line_and_leaves_room() {
        let quoted = |part| text(|m| m.part(Part::Quoted(part)));
        assert_eq!(quoted(None), "NULL\n");
        assert_eq!(quoted(Some(Text::new(c"a\nb"))), "\"a?b\"\n");
        let long = std::ffi::CString::new(vec![b'x'; 5000]).unwrap_or_default();
        assert_eq!(quoted(Some(Text::new(&long))), format!("\"{}...\"\n", "x".repeat(200)));
    }

    #[test]
    fn every_level_has_its_name() {
        for (level, name) in [(-1, c"disabled"), (0, c"fatal"), (2, c"warning"), (5, c"debug")] {
            assert_eq!(parse_level(name), Some(level));
        }
    }

    #[test]
    fn a_cause_is_the_text_of_its_errno() {
        let cause = |errno| text(|m| m.part(Part::Cause(errno)));
        assert_eq!(cause(libc::ENOENT), "No such file or directory\n");
        assert_eq!(cause(99_999), "Unknown error 99999\n");
    }

    #[test]
    fn an_event_line_is_padded_like_the_reference() {
        let mut message = Message::new();
        message.bytes(b"text");
        message.end();
        let (file, function) = (Text::new(c"mr.rs"), Text::new(c"rpma_mr_reg"));
        let place = Place { file, line: 7, function };
        let line = text(|line| append_event(line, Level::Warning, &place, &message));
        assert_eq!(line, "*WARN*  mr.rs:   7: rpma_mr_reg: text\n");
    }

    #[test]
    fn a_base_name_has_no_folder() {
        assert_eq!((base_name_len("a/b/c.rs"), base_name_len("c.rs")), (5, 5));
        assert_eq!((&base_name("a/b/c.rs"), &base_name("c.rs")), (b"c.rs\0", b"c.rs\0"));
    }

    #[test]
    fn thresholds_are_checked() {
        for (threshold, level) in [(-1, 0), (2, 0), (0, -2), (0, 6), (1, c_int::MAX)] {
            assert!(set_threshold(threshold, level).is_err());
        }
        for level in DISABLED..=DEBUG {
            assert!(set_threshold(1, level).is_ok());
            assert_eq!(THRESHOLD_AUX.load(Ordering::Relaxed), level);
        }
        THRESHOLD_AUX.store(DISABLED, Ordering::Relaxed);
    }
}
