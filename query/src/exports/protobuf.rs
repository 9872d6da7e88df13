//! Messages of Protocol Buffers, written field by field.

/// A message that grows.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// Wire types of fields.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

impl Message {
    /// Adds a number.
    pub(super) fn number(mut self, field: u64, number: u64) -> Self {
        self.varint(field << 3 | VARINT);
        self.varint(number);
        self
    }

    /// Adds a text.
    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    pub(super) fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    /// The bytes of the message.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_specification_are_right() {
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), b"\x12\x07testing");
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
    }
}
