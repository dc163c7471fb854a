// SPDX-License-Identifier: BSD-3-Clause
//! Modules use only what is declared below them, in `lib.rs` and in `provider/mod.rs`.

use std::fs;
use std::path::Path;

/// The modules that the file declares, from the top; those of the tests left out.
fn declared(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("a source file");
    let mut modules = Vec::new();
    let mut for_tests = false;
    for line in text.lines() {
        let name = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod "));
        match name {
            Some((visibility, name)) if !for_tests && !visibility.starts_with("//") => {
                modules.push(name.to_owned());
            }
            _ => {}
        }
        for_tests = line == "#[cfg(test)]";
    }
    modules
}

/// The sources of a module, without their tests and comments.
fn code(folder: &Path, module: &str) -> String {
    let inside = folder.join(module);
    let files = if inside.is_dir() {
        fs::read_dir(inside).expect("a folder").map(|file| file.expect("a file").path()).collect()
    } else {
        vec![folder.join(format!("{module}.rs"))]
    };
    let mut code = String::new();
    for file in files {
        let text = fs::read_to_string(file).expect("a source file");
        let shipped = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for line in shipped.lines().filter(|line| !line.trim_start().starts_with("//")) {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// The names that follow `prefix` in the code, those of a list in braces each.
fn used<'a>(code: &'a str, prefix: &str) -> Vec<&'a str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = |text: &'a str| text.split(|c| !is_name(c)).next().unwrap_or_default();
    let mut names = Vec::new();
    for rest in code.split(prefix).skip(1) {
        match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
            Some((list, _)) => names.extend(list.split(',').map(|item| name(item.trim_start()))),
            None => names.push(name(rest)),
        }
    }
    names
}

fn check(folder: &Path, declarations: &str, prefix: &str) {
    let modules = declared(&folder.join(declarations));
    assert!(modules.len() > 4, "{modules:?}");
    let mut uses = 0;
    for (height, module) in modules.iter().enumerate() {
        let code = code(folder, module);
        for name in used(&code, prefix) {
            // Macros and functions of the parent are none.
            let Some(other) = modules.iter().position(|other| other == name) else { continue };
            assert!(other >= height, "{module} uses {name}, which is declared above it");
            uses += usize::from(other != height);
        }
    }
    assert!(uses >= modules.len(), "{uses} uses seen");
}

#[test]
fn modules_use_only_those_below_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    check(&src, "lib.rs", "crate::");
}

#[test]
fn provider_modules_use_only_those_below_them() {
    let provider = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/provider");
    check(&provider, "mod.rs", "super::");
}
