//! Dereferences the pointers of C; no other module does.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use crate::codes::{Code, Failure};
use crate::growing::Growing;
use crate::values::{Pair, Text};

/// Reads a structure of any version of the ABI. A field unknown to the caller is 0; one unknown to this library must be
/// 0.
///
/// # Safety
/// `pointer` is NULL or points to as many readable bytes as their first eight say, aligned like a pointer.
#[inline]
pub(crate) unsafe fn structure<T: Growing>(pointer: *const T) -> Result<T, Failure> {
    if pointer.is_null() {
        return Err(Failure::null(T::NAME));
    }
    // SAFETY: the first field is a `usize`, and there for every version; alignment is the caller's.
    let size = unsafe { pointer.cast::<usize>().read() };
    if size == size_of::<T>() {
        // SAFETY: by the caller, this many bytes are readable.
        return Ok(unsafe { pointer.read() });
    }
    // SAFETY: as above.
    unsafe { structure_of_another_size(pointer, size) }
}

/// # Safety
/// `pointer` leads to `size` readable bytes.
#[cold]
unsafe fn structure_of_another_size<T: Growing>(pointer: *const T, size: usize) -> Result<T, Failure> {
    if size < T::FIRST_BYTES || size > 4096 {
        let message = format!("the size of {} is {size}: set it to sizeof({})", T::NAME, T::NAME);
        return Err(Failure::new(Code::BadArgument, message));
    }
    // SAFETY: by the caller, this many bytes are readable; structures have no padding.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
    let (known, unknown) = bytes.split_at(size.min(size_of::<T>()));
    if unknown.iter().any(|&byte| byte != 0) {
        let message =
            format!("{} has fields that this version of libbarrow does not know: install a newer one", T::NAME);
        return Err(Failure::new(Code::WrongAbi, message));
    }
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `known` is no longer than the value, and apart from it. Zero is a value of every field, and
    // what the caller has written are others.
    Ok(unsafe {
        value.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(known.as_ptr(), known.len());
        value.assume_init()
    })
}

/// Reads an array.
///
/// # Safety
/// `pointer` leads to `count` values that stay as they are for `'a`; it may be NULL if `count` is 0.
#[inline]
pub(crate) unsafe fn array<'a, T>(what: &str, pointer: *const T, count: usize) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(Failure::null(what));
    }
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::new(Code::BadArgument, format!("{what} cannot have {count} elements")));
    }
    // SAFETY: the caller says that they are there and stay as they are; it is not NULL and not too long.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Reads a text; NULL is the empty one. Invalid UTF-8 is replaced.
///
/// # Safety
/// The text's pointer leads to as many bytes as it says, which stay as they are for `'a`.
pub(crate) unsafe fn text<'a>(text: Text) -> Result<Words<'a>, Failure> {
    // SAFETY: the caller's.
    unsafe { bytes(text) }.map(String::from_utf8_lossy)
}

/// Reads an optional text; NULL is none.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn optional_text<'a>(of: Text) -> Result<Option<Words<'a>>, Failure> {
    if of.bytes.is_null() && of.length == 0 {
        return Ok(None);
    }
    // SAFETY: the caller's.
    unsafe { text(of) }.map(Some)
}

/// Reads the bytes of a text: a path need not be UTF-8.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn bytes<'a>(text: Text) -> Result<&'a [u8], Failure> {
    // SAFETY: the caller's.
    unsafe { array("the bytes of a text", text.bytes.cast::<u8>(), text.length) }
}

/// The text, copied only if something had to be replaced.
type Words<'a> = Cow<'a, str>;

/// Keys and values.
///
/// # Safety
/// As for [`array()`], and for [`text`] with each of them.
pub(crate) unsafe fn pairs<'a>(pointer: *const Pair, count: usize) -> Result<Vec<(Words<'a>, Words<'a>)>, Failure> {
    // SAFETY: the caller's.
    let pairs = unsafe { array::<Pair>("an array of pairs", pointer, count) }?;
    // SAFETY: the caller's.
    pairs.iter().map(|pair| Ok(unsafe { (text(pair.key)?, text(pair.value)?) })).collect()
}

/// The destination of a result. It is set to empty at once, so that no failure leaves a variable uninitialized.
pub(crate) fn place<'a, T: Default>(what: &str, pointer: Option<&'a mut MaybeUninit<T>>) -> Result<&'a mut T, Failure> {
    pointer.map(|place| place.write(T::default())).ok_or_else(|| Failure::null(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Grown {
        size: usize,
        old: u64,
        new: u64,
    }

    // SAFETY: that is what the caller must guarantee.
    unsafe impl Growing for Grown {
        const NAME: &'static str = "grown";
        const FIRST_BYTES: usize = 16;
    }

    fn read(words: &[u64]) -> Result<Grown, Code> {
        // SAFETY: the first word of each test is at most what there is, or refused.
        unsafe { structure(words.as_ptr().cast::<Grown>()) }.map_err(|failure| crate::codes::guarded(|| Err(failure)))
    }

    #[test]
    fn structures_of_older_and_newer_programs() {
        assert_eq!(read(&[24, 5, 6]), Ok(Grown { size: 24, old: 5, new: 6 }));
        assert_eq!(read(&[16, 5]), Ok(Grown { size: 16, old: 5, new: 0 }));
        assert_eq!(read(&[40, 5, 6, 0, 0]), Ok(Grown { size: 40, old: 5, new: 6 }));
        assert_eq!(read(&[40, 5, 6, 0, 1]), Err(Code::WrongAbi));
        assert_eq!(read(&[0, 5, 6]), Err(Code::BadArgument));
        assert_eq!(read(&[8, 5, 6]), Err(Code::BadArgument));
        assert_eq!(read(&[u64::MAX, 5, 6]), Err(Code::BadArgument));
    }
}
