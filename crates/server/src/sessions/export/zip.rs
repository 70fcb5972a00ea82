//! A zip archive of stored (uncompressed) files, written from front to back. What is beyond the 4 GiB or 65,535 files
//! of the original format is said in the fields of zip64, which all programs of this century read.

/// The files so far. Every method returns the bytes to write next.
#[derive(Default)]
pub struct Zip {
    entries: Vec<Entry>,
    /// How much was written.
    bytes: u64,
}

struct Entry {
    name: String,
    sum: u32,
    length: u64,
    at: u64,
}

/// Midnight on 1 January 1980, the earliest time a zip can say: files here have no time of their own.
const TIME: [u8; 4] = [0, 0, 0x21, 0];

/// Names are UTF-8.
const FLAGS: [u8; 2] = [0, 0x08];

/// The versions of the format: the first has directories, the second 64 bits.
const PLAIN: [u8; 2] = [20, 0];
const LARGE: [u8; 2] = [45, 0];

impl Zip {
    /// The header of a file, whose bytes follow.
    pub fn file(&mut self, name: &str, sum: u32, length: u64) -> Vec<u8> {
        let entry = Entry { name: name.to_owned(), sum, length, at: self.bytes };
        // A local header has both sizes or none.
        let wide = if fits(length) { Vec::new() } else { vec![length, length] };
        let mut header = b"PK\x03\x04".to_vec();
        header.extend(version(&wide));
        header.extend(entry.middle(&wide));
        header.extend(name.as_bytes());
        header.extend(extra(&wide));
        self.bytes += header.len() as u64 + length;
        self.entries.push(entry);
        header
    }

    /// The directory at the end.
    pub fn end(self) -> Vec<u8> {
        let mut directory = Vec::new();
        for entry in &self.entries {
            let mut wide = if fits(entry.length) { Vec::new() } else { vec![entry.length; 2] };
            wide.extend((!fits(entry.at)).then_some(entry.at));
            directory.extend(b"PK\x01\x02\x2d\x03");
            directory.extend(version(&wide));
            directory.extend(entry.middle(&wide));
            // No comment, first disk, and a plain file that its owner may read and write.
            directory.extend([0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x81]);
            directory.extend(narrow(entry.at));
            directory.extend(entry.name.as_bytes());
            directory.extend(extra(&wide));
        }
        let (count, length) = (self.entries.len() as u64, directory.len() as u64);
        if !fits(self.bytes) || !fits(length) || count >= u64::from(u16::MAX) {
            let at = self.bytes + length;
            directory.extend(b"PK\x06\x06");
            directory.extend(44_u64.to_le_bytes());
            directory.extend([LARGE, LARGE].concat());
            directory.extend([0; 8]);
            for number in [count, count, length, self.bytes] {
                directory.extend(number.to_le_bytes());
            }
            directory.extend(b"PK\x06\x07\0\0\0\0");
            directory.extend(at.to_le_bytes());
            directory.extend(1_u32.to_le_bytes());
        }
        let count = u16::try_from(count).unwrap_or(u16::MAX).to_le_bytes();
        directory.extend(b"PK\x05\x06\0\0\0\0");
        directory.extend(count.iter().chain(&count));
        directory.extend(narrow(length));
        directory.extend(narrow(self.bytes));
        directory.extend([0, 0]);
        directory
    }
}

impl Entry {
    /// What both headers of a file have in common. `wide` are the numbers that don't fit into it.
    fn middle(&self, wide: &[u64]) -> Vec<u8> {
        let mut middle = FLAGS.to_vec();
        middle.extend([0, 0]);
        middle.extend(TIME);
        middle.extend(self.sum.to_le_bytes());
        middle.extend(narrow(self.length).repeat(2));
        middle.extend(u16::try_from(self.name.len()).unwrap_or(u16::MAX).to_le_bytes());
        middle.extend(u16::try_from(extra(wide).len()).unwrap_or(u16::MAX).to_le_bytes());
        middle
    }
}

/// The largest number of 32 bits says that the real one is elsewhere.
fn fits(number: u64) -> bool {
    number < u64::from(u32::MAX)
}

fn narrow(number: u64) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

/// The field with the numbers that don't fit elsewhere.
fn extra(wide: &[u64]) -> Vec<u8> {
    if wide.is_empty() {
        return Vec::new();
    }
    let mut extra = vec![1, 0, u8::try_from(8 * wide.len()).unwrap_or(u8::MAX), 0];
    extra.extend(wide.iter().flat_map(|number| number.to_le_bytes()));
    extra
}

fn version(wide: &[u64]) -> [u8; 2] {
    if wide.is_empty() { PLAIN } else { LARGE }
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

    fn number(bytes: &[u8]) -> u64 {
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    #[test]
    fn a_small_archive_has_no_field_of_a_large_one() {
        let mut zip = Zip::default();
        let header = zip.file("a", 0, 5);
        assert_eq!((header.len(), number(&header[4..6]), number(&header[18..22])), (31, 20, 5));
        let end = zip.end();
        assert_eq!(end.len(), 47 + 22);
        assert_eq!(number(&end[end.len() - 6..end.len() - 2]), 36, "where the directory begins");
    }

    #[test]
    fn an_archive_of_more_than_4_gib_says_its_numbers_in_64_bits() {
        let mut zip = Zip::default();
        let length = 5 << 30;
        let first = zip.file("a", 0, length);
        assert_eq!((number(&first[4..6]), number(&first[18..22])), (45, 0xffff_ffff));
        assert_eq!(number(&first[28..30]), 20, "the length of the field");
        assert_eq!((number(&first[35..43]), number(&first[43..51])), (length, length));
        let second = zip.file("b", 0, 3);
        assert_eq!((second.len(), number(&second[18..22])), (31, 3));
        let end = zip.end();
        let begins = first.len() as u64 + length + second.len() as u64 + 3;
        let at = |name: &[u8]| end.windows(4).position(|four| four == name).unwrap();
        let second = &end[47 + 20..];
        assert_eq!(number(&second[42..46]), 0xffff_ffff);
        assert_eq!(number(&second[51..59]), first.len() as u64 + length, "where the file begins");
        let large = &end[at(b"PK\x06\x06")..];
        assert_eq!((number(&large[32..40]), number(&large[48..56])), (2, begins));
        let pointer = &end[at(b"PK\x06\x07")..];
        assert_eq!(number(&pointer[8..16]), begins + at(b"PK\x06\x06") as u64);
    }

    #[test]
    fn an_archive_of_too_many_files_counts_them_in_64_bits() {
        let mut zip = Zip::default();
        for n in 0..70_000 {
            zip.file(&n.to_string(), 0, 0);
        }
        let end = zip.end();
        let at = end.windows(4).rposition(|four| four == b"PK\x06\x06").unwrap();
        assert_eq!(number(&end[at + 32..at + 40]), 70_000);
    }
}
