//! A zip archive of stored (uncompressed) files, written from front to back. Archives of 4 GiB and more are not made.

/// The files so far. Every method returns the bytes to write next.
#[derive(Default)]
pub struct Zip {
    entries: Vec<Entry>,
    /// How much was written.
    bytes: u32,
}

struct Entry {
    name: String,
    sum: u32,
    length: u32,
    at: u32,
}

/// Midnight on 1 January 1980, the earliest time a zip can say: files here have no time of their own.
const TIME: [u8; 4] = [0, 0, 0x21, 0];

/// Names are UTF-8.
const FLAGS: [u8; 2] = [0, 0x08];

impl Zip {
    /// The header of a file, whose bytes follow.
    pub fn file(&mut self, name: &str, sum: u32, length: u32) -> Vec<u8> {
        let entry = Entry { name: name.to_owned(), sum, length, at: self.bytes };
        let mut header = b"PK\x03\x04\x14\0".to_vec();
        header.extend(entry.middle());
        header.extend(name.as_bytes());
        self.bytes += size(&header) + length;
        self.entries.push(entry);
        header
    }

    /// The directory at the end.
    pub fn end(self) -> Vec<u8> {
        let mut directory = Vec::new();
        for entry in &self.entries {
            directory.extend(b"PK\x01\x02\x14\x03\x14\0");
            directory.extend(entry.middle());
            // No comment, first disk, and a plain file that its owner may read and write.
            directory.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x81]);
            directory.extend(entry.at.to_le_bytes());
            directory.extend(entry.name.as_bytes());
        }
        let count = u16::try_from(self.entries.len()).unwrap_or(u16::MAX).to_le_bytes();
        let length = size(&directory).to_le_bytes();
        directory.extend(b"PK\x05\x06\0\0\0\0");
        directory.extend(count.iter().chain(&count).chain(&length));
        directory.extend(self.bytes.to_le_bytes());
        directory.extend([0, 0]);
        directory
    }
}

impl Entry {
    /// What both headers of a file have in common.
    fn middle(&self) -> Vec<u8> {
        let mut middle = FLAGS.to_vec();
        middle.extend([0, 0]);
        middle.extend(TIME);
        middle.extend(self.sum.to_le_bytes());
        middle.extend(self.length.to_le_bytes().repeat(2));
        middle.extend(u16::try_from(self.name.len()).unwrap_or(u16::MAX).to_le_bytes());
        middle.extend([0, 0]);
        middle
    }
}

fn size(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

/// The CRC-32 of bytes read so far, starting from 0, and more.
pub fn sum(before: u32, more: &[u8]) -> u32 {
    !more.iter().fold(!before, |sum, byte| {
        let low = (sum ^ u32::from(*byte)) & 0xff;
        (sum >> 8) ^ TABLE[low as usize]
    })
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_standard() {
        assert_eq!(sum(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(sum(sum(0, b"1234"), b"56789"), 0xcbf4_3926);
    }
}
