// SPDX-License-Identifier: BSD-3-Clause
//! Prints the C header of the library. `make header` and `make check-header` run it.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The files that have something for the header, in the order in which it stands there: what a
/// program needs first comes first. The library declares its modules in another order.
const FILES: [&str; 16] = [
    "utils",
    "peer_cfg",
    "peer",
    "mr",
    "conn_cfg",
    "private_data",
    "conn_req",
    "conn",
    "ep",
    "srq_cfg",
    "srq",
    "operations",
    "flush",
    "cq",
    "log",
    "error",
];

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = here.join("../../src");
    none_is_missing(&sources)?;
    let mut generated = Vec::new();
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml"))?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in FILES {
        builder = builder.with_src(sources.join(format!("{file}.rs")));
    }
    builder.generate()?.write(&mut generated);
    let header = finish(&String::from_utf8(generated)?)?;
    io::stdout().write_all(header.as_bytes())?;
    Ok(())
}

/// Fails where a file exports functions and is not among FILES.
fn none_is_missing(sources: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(sources)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let exports =
            path.is_file() && fs::read_to_string(&path)?.contains("extern \"C\" fn rpma_");
        if exports && !FILES.contains(&&*name) {
            return Err(format!("{name}.rs exports functions: add it to FILES").into());
        }
    }
    Ok(())
}

/// Writes what cbindgen has no words for, and fails where it is not found.
fn finish(generated: &str) -> Result<String, Box<dyn Error>> {
    let header = replace(generated, "struct rpma_log_function;", LOG_FUNCTION)?;
    let header = replace(&header, "struct rpma_log_function *", "rpma_log_function *")?;
    parenthesise_negatives(&header)
}

/// A function type, and one with variable arguments at that.
const LOG_FUNCTION: &str = "\
typedef void rpma_log_function(enum rpma_log_level level, const char *file_name, const int line_no,
                               const char *function_name, const char *message_format, ...);";

fn replace(text: &str, from: &str, to: &str) -> Result<String, Box<dyn Error>> {
    match text.matches(from).count() {
        1 => Ok(text.replacen(from, to, 1)),
        count => Err(format!("{count} times instead of once in the header: {from}").into()),
    }
}

/// A macro that expands to a negative number needs parentheses.
fn parenthesise_negatives(header: &str) -> Result<String, Box<dyn Error>> {
    let mut count = 0;
    let mut finished = String::new();
    for line in header.lines() {
        match line.strip_prefix("#define ").and_then(|rest| rest.split_once(" -")) {
            Some((name, number)) => {
                count += 1;
                finished.push_str(&format!("#define {name} (-{number})\n"));
            }
            None => finished.extend([line, "\n"]),
        }
    }
    match count {
        10 => Ok(finished),
        _ => Err(format!("{count} error codes instead of 10 in the header").into()),
    }
}
