use super::{EncodeError, InvalidUtf8};

pub fn write_string(out: &mut Vec<u8>, text: &[u8], invalid: InvalidUtf8) -> Result<(), EncodeError> {
    let _ = (out, text, invalid);
    todo!()
}
pub fn write_number(out: &mut Vec<u8>, number: f64) -> Result<(), EncodeError> {
    let _ = (out, number);
    todo!()
}
pub fn write_integer(out: &mut Vec<u8>, number: i64) {
    let _ = (out, number);
    todo!()
}
