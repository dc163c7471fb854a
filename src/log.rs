// SPDX-License-Identifier: BSD-3-Clause
//! Log messages: thresholds, the user's log function, and the default one (stderr and syslog).
//!
//! A message is put together in a buffer on the stack. Logging never allocates memory. It never
//! changes `errno`, even if the user's function does: `send` restores it.

use core::ffi::CStr;
use core::marker::PhantomData;
use core::mem::{MaybeUninit, transmute};
use core::ptr::{NonNull, null, null_mut};
use core::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use libc::{c_char, c_int, c_ulong, c_void};

use crate::error::{Checked, Error, Failure, errno};
use crate::ffi::{self, Out};

/// The level of a log message. A lower number is more important.
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_log_level {
    /// As a threshold, it lets no message pass. No message has this level.
    RPMA_LOG_DISABLED = -1,
    /// The library cannot go on. No message has this level so far.
    RPMA_LOG_LEVEL_FATAL,
    /// A call failed, or a descriptor that the other side sent is wrong.
    RPMA_LOG_LEVEL_ERROR,
    /// Something unexpected happened, and the library goes on.
    RPMA_LOG_LEVEL_WARNING,
    /// A step in the life of a connection.
    RPMA_LOG_LEVEL_NOTICE,
    /// What the library has found out about a device or about the other side.
    RPMA_LOG_LEVEL_INFO,
    /// Details for debugging.
    RPMA_LOG_LEVEL_DEBUG,
}

/// Which of the two thresholds.
#[allow(non_camel_case_types)]
#[repr(C)]
pub enum rpma_log_threshold {
    /// Messages up to this level go to the log function. At first it is RPMA_LOG_LEVEL_WARNING.
    RPMA_LOG_THRESHOLD,
    /// The default log function also writes messages up to this level to stderr. At first it is
    /// RPMA_LOG_DISABLED.
    RPMA_LOG_THRESHOLD_AUX,
    /// The number of thresholds.
    RPMA_LOG_THRESHOLD_MAX,
}

/// `enum rpma_log_level` as C callers pass it: any int.
#[allow(non_camel_case_types)]
pub type rpma_log_level_raw = c_int;

/// `enum rpma_log_threshold` as C callers pass it: any int.
#[allow(non_camel_case_types)]
pub type rpma_log_threshold_raw = c_int;

/// A log function of your own.
///
/// Several threads may call it at the same time. Of this library's functions, it may call only
/// rpma_log_*(). The strings are valid only during the call. The message ends with a newline.
///
/// - `level`: the level of the message.
/// - `file_name`, `line_no`: the place in the library's source that logs the message.
/// - `function_name`: the function that the message is about: one of this library, or the one of
///   libibverbs or librdmacm that failed.
/// - `message_format`: the printf(3) format of the message, followed by its arguments.
// This stands for the C function type. The library only handles pointers to it.
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

/// Sets one of the two log thresholds.
///
/// A message passes a threshold if its level is not above it. RPMA_LOG_DISABLED lets no message
/// pass. When the library is loaded, the environment variables `RPMA_LOG` and `RPMA_LOG_STDERR` set
/// the same thresholds. What this function sets takes precedence.
///
/// # Parameters
///
/// - `threshold`: which of the two thresholds.
/// - `level`: the new level.
///
/// # Errors
///
/// - RPMA_E_INVAL: `threshold` or `level` is unknown.
///
/// # Safety
///
/// Always safe.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_log_set_threshold(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_log_set_threshold(
    threshold: rpma_log_threshold_raw,
    level: rpma_log_level_raw,
) -> c_int {
    ffi::status_of_checked(|| set_threshold(threshold, level))
}

/// Gets one of the two log thresholds.
///
/// # Parameters
///
/// - `threshold`: which of the two thresholds.
/// - `level`: receives the level.
///
/// # Errors
///
/// - RPMA_E_INVAL: `threshold` is unknown, or `level` is NULL.
///
/// # Safety
///
/// `level` must be NULL or point to writable memory.
///
/// # Thread safety
///
/// Any thread may call this function at any time.
///
/// # Manual page
///
/// rpma_log_get_threshold(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_log_get_threshold(
    threshold: rpma_log_threshold_raw,
    level: *mut rpma_log_level_raw,
) -> c_int {
    ffi::status_of_checked(|| {
        // SAFETY: the caller's promise 2 for `level`.
        let level = unsafe { Out::new(level) }?;
        level.set(threshold_of(threshold)?.get());
        Ok(())
    })
}

/// Sets the function that gets the log messages.
///
/// The function gets the messages that pass RPMA_LOG_THRESHOLD. The default function passes them to
/// syslog(3), with the facility LOCAL7. It also writes those that pass RPMA_LOG_THRESHOLD_AUX to
/// stderr.
///
/// The parameters of the log function are: the level of the message; the file and the line of the
/// library's source that log it; the function that the message is about, which may be the one of
/// libibverbs or librdmacm that failed; and a printf(3) format with its arguments, which give one
/// line that ends with a newline.
///
/// Several threads may call the log function at the same time. Of this library's functions, it may
/// call only rpma_log_set_threshold(), rpma_log_get_threshold() and rpma_log_set_function(). It may
/// change errno: the library restores it.
///
/// # Parameters
///
/// - `log_function`: the function, or NULL (RPMA_LOG_USE_DEFAULT_FUNCTION) for the default
///   function.
///
/// # Errors
///
/// None.
///
/// # Safety
///
/// `log_function` must be NULL or a function of this type, which can be called as long as it is
/// set.
///
/// # Thread safety
///
/// Any thread may call this function at any time. A log function that you have replaced may still
/// run in another thread when this call returns.
///
/// # Manual page
///
/// rpma_log_set_function(3)
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpma_log_set_function(log_function: *mut rpma_log_function) -> c_int {
    FUNCTION.store(log_function, Ordering::Release);
    0
}

/// The level of a message that the library logs.
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

const FILE: File = File::Log;

static THRESHOLD: Threshold = Threshold::new(Level::Warning as c_int);
static THRESHOLD_AUX: Threshold = Threshold::new(DISABLED);
/// The user's function, or NULL for the default one.
static FUNCTION: AtomicPtr<rpma_log_function> = AtomicPtr::new(null_mut());

/// The level up to which messages pass: twice that, and one more once the program has set it. With
/// a static library, constructors of the program may do so before the environment is read.
struct Threshold(AtomicI32);

impl Threshold {
    const fn new(level: c_int) -> Self {
        Self(AtomicI32::new(2 * level))
    }

    fn get(&self) -> c_int {
        self.0.load(Ordering::Relaxed) >> 1
    }

    #[inline]
    fn passes(&self, level: c_int) -> bool {
        2 * level <= self.0.load(Ordering::Relaxed)
    }

    fn set(&self, level: c_int) {
        self.0.store(2 * level + 1, Ordering::Relaxed);
    }

    /// Sets it unless the program has.
    fn preset(&self, level: c_int) {
        let before = self.0.load(Ordering::Relaxed);
        if before & 1 == 0 {
            let (new, relaxed) = (2 * level, Ordering::Relaxed);
            // Fails where the program sets it at this moment.
            let _ = self.0.compare_exchange(before, new, relaxed, relaxed);
        }
    }
}

fn threshold_of(threshold: c_int) -> Checked<&'static Threshold> {
    const PRIMARY: c_int = rpma_log_threshold::RPMA_LOG_THRESHOLD as c_int;
    const AUX: c_int = rpma_log_threshold::RPMA_LOG_THRESHOLD_AUX as c_int;
    match threshold {
        PRIMARY => Ok(&THRESHOLD),
        AUX => Ok(&THRESHOLD_AUX),
        _ => Err(Error::Inval),
    }
}

fn set_threshold(threshold: c_int, level: c_int) -> Checked {
    let threshold = threshold_of(threshold)?;
    if !(DISABLED..=DEBUG).contains(&level) {
        return Err(Error::Inval);
    }
    threshold.set(level);
    Ok(())
}

#[inline]
pub(crate) fn enabled(level: Level) -> bool {
    THRESHOLD.passes(level as c_int)
}

/// Sets the thresholds from `RPMA_LOG` and `RPMA_LOG_STDERR`, for users who cannot change the
/// program. Called once, when the library is loaded. What the program sets counts before that, too.
pub(crate) fn configure() {
    let aux = Variable::read(c"RPMA_LOG_STDERR");
    if let Some(level) = aux.value.and_then(parse_level) {
        THRESHOLD_AUX.preset(level);
        THRESHOLD.preset(level.max(Level::Warning as c_int));
    } else if aux.value.is_some() {
        // A user who wants messages on stderr looks there for this warning, too.
        THRESHOLD_AUX.preset(Level::Warning as c_int);
        aux.ignored(c"rpma_log");
        THRESHOLD_AUX.preset(DISABLED);
    }
    let primary = Variable::read(c"RPMA_LOG");
    match primary.value.and_then(parse_level) {
        Some(level) => THRESHOLD.preset(level),
        None => primary.ignored(c"rpma_log"),
    }
}

fn parse_level(name: Text) -> Option<c_int> {
    static NAMES: [[u8; 9]; 7] = [
        *b"disabled\0",
        *b"fatal\0\0\0\0",
        *b"error\0\0\0\0",
        *b"warning\0\0",
        *b"notice\0\0\0",
        *b"info\0\0\0\0\0",
        *b"debug\0\0\0\0",
    ];
    // SAFETY: each of them ends with a NUL.
    let is_name = |known: &[u8; 9]| name == unsafe { Text::from_ptr(known.as_ptr().cast()) };
    (DISABLED..).zip(&NAMES).find(|(_, known)| is_name(known)).map(|(level, _)| level)
}

unsafe extern "C" {
    /// The C library's; the libc crate does not declare it.
    fn secure_getenv(name: *const c_char) -> *mut c_char;
}

/// An environment variable.
#[derive(Clone, Copy)]
pub(crate) struct Variable {
    name: &'static CStr,
    pub(crate) value: Option<Text<'static>>,
}

impl Variable {
    /// In a setuid program it has no value.
    pub(crate) fn read(name: &'static CStr) -> Self {
        // SAFETY: `name` is a C string. We are called while the library is loaded, when nobody
        // changes the environment (promise 6), and the value is used no longer than that.
        let value = unsafe { Text::argument(secure_getenv(name.as_ptr())) };
        Self { name, value }
    }

    /// If there is a value, warns that it is ignored.
    #[inline(never)]
    pub(crate) fn ignored(self, function: &'static CStr) {
        if self.value.is_some() {
            let value = Part::Quoted(self.value);
            log!(Warning, function, c"%: unknown value %, ignored", self.name, value);
        }
    }
}

/// A C string, known by its address alone. Code that logs passes several of them; so it stays
/// small.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a>(NonNull<c_char>, PhantomData<&'a CStr>);

impl<'a> Text<'a> {
    pub(crate) const fn new(text: &'a CStr) -> Self {
        // SAFETY: no reference is NULL.
        Self(unsafe { NonNull::new_unchecked(text.as_ptr().cast_mut()) }, PhantomData)
    }

    /// # Safety
    ///
    /// `text` is a C string that lives long enough.
    pub(crate) unsafe fn from_ptr(text: *const c_char) -> Self {
        // SAFETY: not NULL by the caller's promise.
        Self(unsafe { NonNull::new_unchecked(text.cast_mut()) }, PhantomData)
    }

    /// A string argument of a call, or none for NULL.
    ///
    /// # Safety
    ///
    /// `text` is NULL or a C string that lives long enough.
    pub(crate) unsafe fn argument(text: *const c_char) -> Option<Self> {
        NonNull::new(text.cast_mut()).map(|text| Self(text, PhantomData))
    }

    pub(crate) const fn as_ptr(self) -> *const c_char {
        self.0.as_ptr()
    }

    /// The address that a C function takes: NULL for none.
    pub(crate) fn or_null(text: Option<Self>) -> *const c_char {
        text.map_or(null(), Self::as_ptr)
    }

    pub(crate) fn bytes(self) -> impl Iterator<Item = u8> {
        let byte = move |at| {
            // SAFETY: made of a C string that lives long enough; nothing beyond its NUL is read.
            unsafe { *self.0.cast::<u8>().as_ptr().add(at) }
        };
        (0..).map(byte).take_while(|byte| *byte != 0)
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: both are made of C strings that live long enough.
        unsafe { libc::strcmp(self.as_ptr(), other.as_ptr()) == 0 }
    }
}

/// The source files that log. Each of them says in a constant `FILE` which one it is.
#[derive(Clone, Copy)]
pub(crate) enum File {
    Address,
    Cm,
    Conn,
    ConnReq,
    Cq,
    DeviceNodes,
    Ep,
    Flush,
    FlushBuffer,
    Log,
    Mr,
    Native,
    Owner,
    Peer,
    PeerCfg,
    Qp,
    Verbs,
}

/// In the order of [`File`]. The names themselves: addresses of them would have to be relocated.
static FILE_NAMES: [[u8; 16]; 17] = [
    *b"address.rs\0\0\0\0\0\0",
    *b"cm.rs\0\0\0\0\0\0\0\0\0\0\0",
    *b"conn.rs\0\0\0\0\0\0\0\0\0",
    *b"conn_req.rs\0\0\0\0\0",
    *b"cq.rs\0\0\0\0\0\0\0\0\0\0\0",
    *b"device_nodes.rs\0",
    *b"ep.rs\0\0\0\0\0\0\0\0\0\0\0",
    *b"flush.rs\0\0\0\0\0\0\0\0",
    *b"flush_buffer.rs\0",
    *b"log.rs\0\0\0\0\0\0\0\0\0\0",
    *b"mr.rs\0\0\0\0\0\0\0\0\0\0\0",
    *b"native.rs\0\0\0\0\0\0\0",
    *b"owner.rs\0\0\0\0\0\0\0\0",
    *b"peer.rs\0\0\0\0\0\0\0\0\0",
    *b"peer_cfg.rs\0\0\0\0\0",
    *b"qp.rs\0\0\0\0\0\0\0\0\0\0\0",
    *b"verbs.rs\0\0\0\0\0\0\0\0",
];

/// Level, file and line of a message in one word. Seventy places may log: with more to pass, each
/// of them would need 12 bytes more.
#[derive(Clone, Copy)]
pub(crate) struct Origin(u32);

impl Origin {
    pub(crate) const fn new(level: Level, file: File, line: u32) -> Self {
        // No file has more lines than 16 bits can count.
        Self((level as u32) << 24 | (file as u32) << 16 | line & 0xffff)
    }

    const fn level(self) -> c_int {
        (self.0 >> 24) as c_int
    }

    fn level_name(self) -> *const c_char {
        // The texts themselves: addresses of them would have to be relocated.
        static NAMES: [[u8; 8]; 5] =
            [*b"*ERROR*\0", *b"*WARN*\0\0", *b"*NOTE*\0\0", *b"*INFO*\0\0", *b"*DEBUG*\0"];
        let number = self.level() - Level::Error as c_int;
        NAMES.get(number as usize).unwrap_or(&[0; 8]).as_ptr().cast()
    }

    /// Both kinds of level count in the same direction, without a gap.
    const fn syslog_priority(self) -> c_int {
        const FIRST: c_int = libc::LOG_ERR - Level::Error as c_int;
        const { assert!(FIRST + Level::Warning as c_int == libc::LOG_WARNING) };
        const { assert!(FIRST + Level::Notice as c_int == libc::LOG_NOTICE) };
        const { assert!(FIRST + Level::Info as c_int == libc::LOG_INFO) };
        const { assert!(FIRST + Level::Debug as c_int == libc::LOG_DEBUG) };
        FIRST + self.level()
    }

    fn file(self) -> *const c_char {
        let number = (self.0 >> 16) as u8;
        FILE_NAMES.get(usize::from(number)).unwrap_or(&[0; 16]).as_ptr().cast()
    }

    const fn line(self) -> c_int {
        (self.0 & 0xffff) as c_int
    }
}

/// Logs a message. Each % in the text is replaced by the next of the parts that follow:
/// `log!(Error, c"function", c"% bytes", 42_u64)`.
macro_rules! log {
    ($level:ident, $function:expr, $text:expr $(, $part:expr)* $(,)?) => {
        $crate::log::send(
            const { $crate::log::Origin::new($crate::log::Level::$level, FILE, line!()) },
            $crate::log::Text::new($function),
            $crate::log::Text::new($text),
            &[$( $crate::log::Part::from($part) ),*],
        )
    };
}
pub(crate) use log;

/// Logs why a call fails and gives the failure: `refused!(Inval, c"function", c"reason")`.
macro_rules! refused {
    ($error:ident, $function:expr, $why:expr) => {
        $crate::log::refusal(
            const { $crate::log::Origin::new($crate::log::Level::Error, FILE, line!()) },
            $crate::log::Text::new($function),
            $crate::log::Text::new($why),
            $crate::error::Error::$error,
        )
    };
}
pub(crate) use refused;

/// Out of line, and once, to keep the calls small.
#[cold]
#[inline(never)]
pub(crate) fn refusal(origin: Origin, function: Text, why: Text, error: Error) -> Failure {
    send(origin, function, why, &[]);
    error.into()
}

/// What a % in a message stands for.
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

impl<'a> From<Text<'a>> for Part<'a> {
    fn from(text: Text<'a>) -> Self {
        Self::Text(text)
    }
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

    pub(crate) const fn new() -> Self {
        Self { text: [0; Self::SIZE], len: 0 }
    }

    /// Appends `text`, each % of which stands for one of `parts`.
    pub(crate) fn append(&mut self, text: Text, parts: &[Part]) {
        let mut parts = parts.iter();
        for byte in text.bytes() {
            match parts.as_slice() {
                [part, ..] if byte == b'%' => {
                    self.part(*part);
                    parts.next();
                }
                _ => self.byte(byte),
            }
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.len < Self::SIZE - Self::END {
            if let Some(slot) = self.text.get_mut(self.len) {
                *slot = byte;
                self.len += 1;
            }
        }
    }

    fn part(&mut self, part: Part) {
        let (format, value) = match part {
            Part::Text(text) => (c"%s", text.as_ptr() as usize),
            Part::Quoted(None) => (c"NULL", 0),
            // A caller's text must leave room for what the message says about it.
            Part::Quoted(Some(text)) => {
                let long = text.bytes().nth(200).is_some();
                (if long { c"\"%.200s...\"" } else { c"\"%s\"" }, text.as_ptr() as usize)
            }
            Part::Number(number) => (c"%lu", number as usize),
            Part::Hex(number) => (c"0x%lx", number as usize),
            Part::Cause(cause) => {
                errno::set(cause);
                (c"%m", 0)
            }
            // SAFETY: gives a constant string for every number.
            Part::Resolver(code) => (c"%s", unsafe { libc::gai_strerror(code) } as usize),
        };
        // With the newline to come, there is always room for a NUL.
        let room = Self::SIZE - 1 - self.len;
        // SAFETY: `len` is less than SIZE - 1; format and value, a number or the address of a C
        // string, belong together.
        let written = unsafe {
            let end = self.text.as_mut_ptr().add(self.len);
            libc::snprintf(end.cast(), room, format.as_ptr(), value)
        };
        self.len += usize::try_from(written).unwrap_or(0).min(room - 1);
    }

    /// Ends the message with a newline, the only one. Nothing may be appended after that.
    fn end(&mut self) {
        for byte in self.text.iter_mut().take(self.len) {
            if byte.is_ascii_control() {
                *byte = b'?';
            }
        }
        if let Some([newline, nul]) = self.text.get_mut(self.len..self.len + Self::END) {
            *newline = b'\n';
            *nul = 0;
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// What was put together so far.
    pub(crate) const fn text(&self) -> Text<'_> {
        // SAFETY: there is always room for a NUL, and zeros follow what is there.
        let start = unsafe { NonNull::new_unchecked(self.text.as_ptr().cast_mut()) };
        Text(start.cast(), PhantomData)
    }

    const fn as_ptr(&self) -> *const c_char {
        self.text().as_ptr()
    }
}

/// Puts the message together and hands it to the log function.
#[inline(never)]
pub(crate) fn send(origin: Origin, function: Text, text: Text, parts: &[Part]) {
    if !THRESHOLD.passes(origin.level()) {
        return;
    }
    let errno_before = errno::get();
    let mut message = Message::new();
    message.append(text, parts);
    message.end();
    deliver(origin, function, &message);
    errno::set(errno_before);
}

fn deliver(origin: Origin, function: Text, message: &Message) {
    // Read once: another thread may replace it between a check and the call.
    let user_function = FUNCTION.load(Ordering::Acquire);
    if user_function.is_null() {
        default_function(origin, function, message);
        return;
    }
    // SAFETY: only `rpma_log_set_function` stores here, and it stores functions of this type.
    let user_function = unsafe { transmute::<*mut rpma_log_function, LogFunction>(user_function) };
    // SAFETY: the user promised a function that can be called as long as it is set, and all the
    // strings live until the call returns.
    unsafe {
        user_function(
            origin.level(),
            origin.file(),
            origin.line(),
            function.as_ptr(),
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
}

fn default_function(origin: Origin, function: Text, message: &Message) {
    let (name, file, line) = (origin.level_name(), origin.file(), origin.line());
    let (function, message) = (function.as_ptr(), message.as_ptr());
    if THRESHOLD_AUX.passes(origin.level()) {
        let mut time = [0; 32];
        let micros = write_time(&mut time);
        const SIZE: usize = Message::SIZE + 128;
        let mut text = MaybeUninit::<[c_char; SIZE]>::uninit();
        // SAFETY: the buffer has the given size; formats and values belong together. The C
        // library's `gettid` is younger than some of them.
        let len = unsafe {
            libc::snprintf(
                text.as_mut_ptr().cast(),
                SIZE,
                c"%s.%06lu [%ld] %-8s%s: %3d: %s: %s".as_ptr(),
                time.as_ptr(),
                micros,
                libc::syscall(libc::SYS_gettid),
                name,
                file,
                line,
                function,
                message,
            )
        };
        let len = usize::try_from(len).unwrap_or(0).min(SIZE - 1);
        // One write, so that lines of several threads do not mix. A failure cannot be
        // reported to anyone.
        // SAFETY: so many bytes were written.
        unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), len) };
    }
    // The facility goes with the message: openlog(3) would take over the application's identity.
    // SAFETY: format and values belong together.
    unsafe {
        libc::syslog(
            libc::LOG_LOCAL7 | origin.syslog_priority(),
            c"rpma[%d]: %-8s%s: %3d: %s: %s".as_ptr(),
            libc::getpid(),
            name,
            file,
            line,
            function,
            message,
        );
    }
}

/// Writes `Mon DD HH:MM:SS`, in local time, and gives the microseconds.
fn write_time(text: &mut [c_char; 32]) -> c_ulong {
    let mut micros = 0;
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    let mut parts = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: all buffers are ours, zeroed, and of the sizes given.
    unsafe {
        if libc::clock_gettime(libc::CLOCK_REALTIME, now.as_mut_ptr()) == 0 {
            let now = now.assume_init();
            libc::localtime_r(&now.tv_sec, parts.as_mut_ptr());
            micros = now.tv_nsec as c_ulong / 1000;
        }
        let format = c"%b %d %H:%M:%S".as_ptr();
        libc::strftime(text.as_mut_ptr(), text.len(), format, parts.as_ptr());
    }
    micros
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &CStr, parts: &[Part]) -> String {
        let mut message = Message::new();
        message.append(Text::new(text), parts);
        message.end();
        // SAFETY: a message ends with a NUL.
        let text = unsafe { CStr::from_ptr(message.as_ptr()) };
        String::from_utf8_lossy(text.to_bytes()).into_owned()
    }

    proptest! {
        #[test]
        fn numbers_are_exact(number: u64) {
            let parts = [Part::Number(number), Part::Hex(number)];
            prop_assert_eq!(text(c"% is %", &parts), format!("{number} is {number:#x}\n"));
        }

        #[test]
        fn a_message_of_any_length_ends_with_a_newline(head in 0_usize..3000, tail in 0_usize..3000) {
            let long = |len| std::ffi::CString::new(vec![b'x'; len]).unwrap_or_default();
            let (head, tail) = (long(head), long(tail));
            let kept = (head.count_bytes() + tail.count_bytes()).min(Message::SIZE - Message::END);
            let parts = [Part::from(&*head), Part::from(&*tail)];
            prop_assert_eq!(text(c"%%", &parts), "x".repeat(kept) + "\n");
            let whole = std::ffi::CString::new([head.to_bytes(), tail.to_bytes()].concat());
            prop_assert_eq!(text(&whole.unwrap_or_default(), &[]), "x".repeat(kept) + "\n");
        }

        #[test]
        fn only_the_known_names_are_levels(name in "[a-z]{0,10}") {
            let known =
                ["disabled", "fatal", "error", "warning", "notice", "info", "debug"];
            let expected = known.iter().position(|k| **k == name).map(|at| at as c_int - 1);
            let name = std::ffi::CString::new(name).map_err(|_| TestCaseError::reject("NUL"))?;
            prop_assert_eq!(parse_level(Text::new(&name)), expected);
        }
    }

    #[test]
    fn a_quoted_text_stays_on_the_line_and_leaves_room() {
        let quoted = |part| text(c"%.", &[Part::Quoted(part)]);
        assert_eq!(quoted(None), "NULL.\n");
        assert_eq!(quoted(Some(Text::new(c"a\nb%"))), "\"a?b%\".\n");
        let long = std::ffi::CString::new(vec![b'x'; 5000]).unwrap_or_default();
        let cut = format!("\"{}...\".\n", "x".repeat(200));
        assert_eq!(quoted(Some(Text::new(&long))), cut);
    }

    #[test]
    fn zero_is_a_number_in_every_base() {
        assert_eq!(text(c"% %", &[Part::Number(0), Part::Hex(0)]), "0 0x0\n");
    }

    #[test]
    fn a_percent_sign_beyond_the_parts_is_itself() {
        assert_eq!(text(c"% of 100 %", &[Part::Number(7)]), "7 of 100 %\n");
        assert_eq!(text(c"none", &[Part::Number(7)]), "none\n");
    }

    #[test]
    fn every_level_has_its_name() {
        for (level, name) in [(-1, c"disabled"), (0, c"fatal"), (2, c"warning"), (5, c"debug")] {
            assert_eq!(parse_level(Text::new(name)), Some(level));
        }
    }

    #[test]
    fn a_cause_is_the_text_of_its_errno() {
        let cause = |errno| text(c"%", &[Part::Cause(errno)]);
        assert_eq!(cause(libc::ENOENT), "No such file or directory\n");
        assert_eq!(cause(99_999), "Unknown error 99999\n");
    }

    #[test]
    fn every_file_says_rightly_which_one_it_is() {
        let said = |name: &[u8; 16]| {
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
            let source = std::fs::read_to_string(format!("{folder}{name}"))
                .or_else(|_| std::fs::read_to_string(format!("{folder}provider/{name}")));
            let source = source.expect("a source file");
            let (_, said) = source.split_once("\nconst FILE: File = File::").expect("a FILE");
            said.split(';').next().unwrap_or_default().to_lowercase() + ".rs"
        };
        for (number, name) in FILE_NAMES.iter().enumerate() {
            let name_alone = String::from_utf8_lossy(name).replace(['_', '\0'], "");
            assert_eq!(said(name), name_alone);
            // SAFETY: a name of the table.
            let named = unsafe { CStr::from_ptr(Origin((number as u32) << 16).file()) };
            assert!(name.starts_with(named.to_bytes_with_nul()));
        }
        assert_eq!(File::Verbs as usize + 1, FILE_NAMES.len());
    }

    #[test]
    fn thresholds_are_checked() {
        for (threshold, level) in [(-1, 0), (2, 0), (0, -2), (0, 6), (1, c_int::MAX)] {
            assert!(set_threshold(threshold, level).is_err());
        }
        for level in DISABLED..=DEBUG {
            assert!(set_threshold(1, level).is_ok());
            assert_eq!(THRESHOLD_AUX.get(), level);
        }
        THRESHOLD_AUX.set(DISABLED);
    }

    #[test]
    fn what_the_program_sets_stays_and_what_it_does_not_can_be_preset() {
        for level in DISABLED..=DEBUG {
            let threshold = Threshold::new(DISABLED);
            for preset in DISABLED..=DEBUG {
                threshold.preset(preset);
                assert_eq!(threshold.get(), preset);
            }
            threshold.set(level);
            threshold.preset(DEBUG);
            assert_eq!(threshold.get(), level);
            for message in DISABLED..=DEBUG {
                assert_eq!(threshold.passes(message), message <= level);
            }
        }
    }
}
