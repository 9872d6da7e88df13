use proptest::prelude::*;

use super::*;
use crate::codec::Compression;
use crate::frame::{Frame, NO_SNAPSHOT, SectionType, encode_frame};
use crate::ids::{FieldId, StringId};

const OBJECTS: u32 = 1000;

thread_local! {
    /// The columns whose checksums this thread has computed.
    pub(super) static CHECKED: std::cell::RefCell<Vec<ColumnId>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Random columns over random shapes, of `OBJECTS` objects at the most.
pub(super) fn columns() -> impl Strategy<Value = (Vec<ShapeForm>, BlockColumns)> {
    let form = (0..40u32, any::<bool>(), any::<bool>()).prop_map(|(prefix, has_tail, is_explicit)| ShapeForm {
        prefix,
        has_tail,
        is_explicit: has_tail && is_explicit,
    });
    let size = prop_oneof![8 => 0..100u64, 1 => any::<u64>()];
    let name = prop::option::of(prop_oneof![8 => 0..100u32, 1 => any::<u32>()]);
    let object = (0..8usize, size.clone(), size, 0..5u32, any::<u64>(), any::<u32>(), name);
    (prop::collection::vec(form, 8), prop::collection::vec(object, 1..60), any::<[bool; 6]>(), any::<u64>()).prop_map(
        |(forms, objects, has, mut seed)| {
            let mut columns = BlockColumns { first_object: 17, ..BlockColumns::default() };
            columns.dictionary = (0..8).map(ShapeId).collect();
            columns.forms = forms.clone();
            let mut values = ValueFiller::default();
            for (row, (shape, size, unmanaged, tail, address, site, name)) in objects.into_iter().enumerate() {
                if has[5] {
                    let fields: Vec<FieldId> =
                        (0..address % 4).map(|field| FieldId((seed >> field) as u32 % 9)).collect();
                    let codes: Vec<u64> = fields.iter().map(|field| address >> (field.0 * 7)).collect();
                    values.push(row, &fields, &codes);
                }
                let form = forms[shape];
                let tail = if form.has_tail { tail } else { 0 };
                columns.shapes.push(shape as u32);
                columns.shallow_bytes.push(size);
                columns.counts.push(form.prefix + tail);
                for _ in 0..form.prefix + tail {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    columns.targets.push((seed >> 33) as u32 % OBJECTS);
                }
                if form.is_explicit {
                    // Of some objects elements with gaps, of the others anything.
                    let gap = 1 + seed % 3;
                    let any = |label: u64| if seed >> label & 3 == 3 { 0 } else { seed >> label };
                    let label = |label: u64| if seed & 1 == 0 { (label * gap) << 6 | 1 } else { any(label) };
                    columns.labels.extend((0..u64::from(tail)).map(label));
                }
                if has[0] {
                    columns.unmanaged_bytes.push(unmanaged);
                }
                if has[1] {
                    columns.addresses.push(address);
                }
                if has[2] {
                    columns.serials.push(address >> 7);
                }
                if has[3] {
                    columns.sites.push(site);
                }
                if has[4] {
                    columns.names.push(name.map(StringId));
                }
            }
            columns.values = values.take(columns.shapes.len());
            if columns.names.iter().all(Option::is_none) {
                columns.names.clear();
            }
            if columns.unmanaged_bytes.iter().all(|&bytes| bytes == 0) {
                columns.unmanaged_bytes.clear();
            }
            (forms, columns)
        },
    )
}

fn frame_of(columns: &mut BlockColumns, compression: Compression) -> Vec<u8> {
    let mut encoder = Encoder::new(compression).unwrap();
    let (directory, body) = encoder.encode(columns).unwrap();
    encode_frame(SectionType::BLOCK, NO_SNAPSHOT, 0, &directory, body)
}

fn decode(frame: &[u8], forms: &[ShapeForm], objects: u32, out: &mut BlockColumns) -> Result<()> {
    let block = Block::parse(&Frame::parse(frame, 0)?)?;
    block.check_columns()?;
    Decoder::new().decode(&block, forms, objects, ColumnSelection::All, out)
}

/// The frame with other values in the column `id`. The same frame if it has none.
fn with_column(frame: &[u8], id: ColumnId, values: &mut impl Iterator<Item = u64>) -> Vec<u8> {
    let whole = Frame::parse(frame, 0).unwrap();
    let mut directory = Directory::parse(whole.directory().unwrap()).unwrap();
    let mut rest = whole.unchecked_body();
    let mut body = Vec::new();
    for column in &mut directory.columns {
        let (bytes, after) = rest.split_at(column.stored_length as usize);
        rest = after;
        let mut raw = bytes.to_vec();
        if column.id == id {
            raw.clear();
            let values: Vec<u64> = values.take(column.values as usize).collect();
            values.iter().for_each(|&value| put_varint(&mut raw, value));
            let wide = values.iter().any(|&value| value > u32::MAX.into());
            let (length, crc) = (raw.len() as u32, crc32c::crc32c(&raw));
            *column = Column { wide, raw_length: length, stored_length: length, crc, ..*column };
        }
        body.extend(raw);
    }
    encode_frame(SectionType::BLOCK, NO_SNAPSHOT, 0, &directory.encode(), &body)
}

proptest! {
    #[test]
    fn what_was_written_is_read_back((forms, mut columns) in columns()) {
        for compression in [Compression::None, Compression::Lz4, Compression::Zstd(1)] {
            // Encoding sorts the dictionary; from then on both must be equal.
            let frame = frame_of(&mut columns, compression);
            let mut read = BlockColumns::default();
            decode(&frame, &forms, OBJECTS, &mut read).unwrap();
            prop_assert_eq!(&read, &columns);
        }
    }

    #[test]
    fn a_decode_checks_each_column_once((forms, mut columns) in columns()) {
        let frame = frame_of(&mut columns, Compression::None);
        let block = Block::parse(&Frame::parse(&frame, 0).unwrap()).unwrap();
        CHECKED.take();
        Decoder::new().decode(&block, &forms, OBJECTS, ColumnSelection::All, &mut BlockColumns::default()).unwrap();
        let (mut checked, directory) = (CHECKED.take(), Frame::parse(&frame, 0).unwrap().directory().unwrap().to_vec());
        let mut stored: Vec<ColumnId> = Directory::parse(&directory).unwrap().columns.iter().map(|one| one.id).collect();
        checked.sort_unstable_by_key(|id| id.name());
        stored.sort_unstable_by_key(|id| id.name());
        prop_assert_eq!(checked, stored);
    }

    #[test]
    fn any_symbols_and_steps_are_an_answer_or_an_error(
        (forms, mut columns) in columns(),
        values in prop::collection::vec(prop_oneof![4 => 0..64u64, 1 => any::<u64>()], 100),
    ) {
        let frame = frame_of(&mut columns, Compression::None);
        let mut values = values.iter().cycle().copied();
        for id in [
            ColumnId::REFERENCES,
            ColumnId::LABELS,
            ColumnId::LAYOUTS,
            ColumnId::LAYOUT,
            ColumnId::VALUES,
        ] {
            let frame = with_column(&frame, id, &mut values);
            let _ = decode(&frame, &forms, OBJECTS, &mut BlockColumns::default());
        }
    }

    #[test]
    fn a_target_that_is_no_object_is_an_error((forms, mut columns) in columns()) {
        let highest = columns.targets.iter().copied().max().unwrap_or(0);
        let frame = frame_of(&mut columns, Compression::None);
        let read = decode(&frame, &forms, highest, &mut BlockColumns::default());
        prop_assert!(columns.targets.is_empty() || read.is_err());
    }

    #[test]
    fn any_change_is_an_answer_or_an_error(
        (forms, mut columns) in columns(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut encoder = Encoder::new(Compression::Zstd(1)).unwrap();
        let (mut directory, body) = encoder.encode(&mut columns).unwrap();
        for (index, byte) in changes {
            *index.get_mut(&mut directory) = byte;
        }
        let frame = encode_frame(SectionType::BLOCK, NO_SNAPSHOT, 0, &directory, body);
        let _ = decode(&frame, &forms, OBJECTS, &mut BlockColumns::default());
    }
}

#[test]
fn a_continuation_is_read_back() {
    let forms = [ShapeForm { prefix: 0, has_tail: true, is_explicit: false }];
    let mut columns = BlockColumns {
        first_object: 9,
        start_index: 1000,
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        counts: vec![4],
        targets: vec![1, 2, 3, 999],
        ..BlockColumns::default()
    };
    let frame = frame_of(&mut columns, Compression::None);
    let mut read = BlockColumns::default();
    decode(&frame, &forms, OBJECTS, &mut read).unwrap();
    assert_eq!(read, columns);
}

/// Three objects of one shape with a tail.
#[test]
fn symbols_are_stored_slot_by_slot() {
    let forms = [ShapeForm { prefix: 1, has_tail: true, is_explicit: false }];
    let mut columns = BlockColumns {
        first_object: 10,
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        shapes: vec![0; 3],
        shallow_bytes: vec![16; 3],
        counts: vec![2, 1, 2],
        targets: vec![500, 11, 600, 500, 13],
        ..BlockColumns::default()
    };
    let symbol = |difference: i64, which: u64| crate::varint::zigzag(difference) << 2 | which;
    let frame = frame_of(&mut columns, Compression::None);
    // First slot: from the block's first object, from the target before, the last other one. Then the tail, from the sources.
    let symbols = [symbol(490, 0), symbol(100, 0), symbol(0, 3), symbol(1, 0), symbol(1, 1)];
    assert_eq!(with_column(&frame, ColumnId::REFERENCES, &mut symbols.into_iter()), frame);
    let mut read = BlockColumns::default();
    decode(&frame, &forms, OBJECTS, &mut read).unwrap();
    assert_eq!(read, columns);
}

/// A shape without any labels expresses every object: all references are in an explicit tail.
#[test]
fn objects_without_labels_in_their_shape_are_read_back() {
    let forms = [ShapeForm { prefix: 0, has_tail: true, is_explicit: true }];
    let mut columns = BlockColumns {
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        shapes: vec![0; 3],
        shallow_bytes: vec![16; 3],
        counts: vec![0, 40, 1],
        targets: (0..41).collect(),
        labels: (0..41).map(|name| name << 6 | 2).collect(),
        ..BlockColumns::default()
    };
    let frame = frame_of(&mut columns, Compression::None);
    let mut read = BlockColumns::default();
    decode(&frame, &forms, OBJECTS, &mut read).unwrap();
    assert_eq!(read, columns);
}

/// Labels of hash tables are steps, tail by tail. Other labels are stored as their codes.
#[test]
fn labels_of_elements_are_steps() {
    let forms = [ShapeForm { prefix: 0, has_tail: true, is_explicit: true }];
    let element = |index: u64| index << 6 | 1;
    let name = |name: u64| name << 6 | 2;
    let mut columns = BlockColumns {
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        shapes: vec![0; 2],
        shallow_bytes: vec![16; 2],
        counts: vec![3, 4],
        targets: vec![0; 7],
        labels: vec![element(0), element(4), element(3), element(2), name(7), name(8), element(1 << 50)],
        ..BlockColumns::default()
    };
    let frame = frame_of(&mut columns, Compression::None);
    let step = |step: u64| step << 2 | 3;
    let stored = [step(0), step(3), element(3), step(2), name(7), step(0), element(1 << 50)];
    assert_eq!(with_column(&frame, ColumnId::LABELS, &mut stored.into_iter()), frame);
    let mut read = BlockColumns::default();
    decode(&frame, &forms, OBJECTS, &mut read).unwrap();
    assert_eq!(read, columns);
    columns.labels[4] = 3;
    let error = Encoder::new(Compression::None).unwrap().encode(&mut columns).unwrap_err();
    assert_eq!(error, FormatError::OutOfRange { what: "kind of a label", value: 3, limit: 2 });
}

/// A later version may add a column, of any codec and without the limits of today's columns.
#[test]
fn an_unknown_column_is_skipped_unless_it_is_critical() {
    let forms = [ShapeForm::default()];
    let mut columns = BlockColumns {
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        shapes: vec![0; 2],
        shallow_bytes: vec![16; 2],
        counts: vec![0; 2],
        ..BlockColumns::default()
    };
    let frame = frame_of(&mut columns, Compression::None);
    let whole = Frame::parse(&frame, 0).unwrap();
    let with_unknown = |flags: u64| {
        // The number of columns is the fifth field, after four of one byte each.
        let mut directory = whole.directory().unwrap().to_vec();
        directory[4] += 1;
        for value in [40, 9, flags, 1 << 31, 1 << 31, 3] {
            put_varint(&mut directory, value);
        }
        put_u32(&mut directory, crc32c::crc32c(b"new"));
        let body = [whole.unchecked_body(), b"new"].concat();
        encode_frame(SectionType::BLOCK, NO_SNAPSHOT, 0, &directory, &body)
    };
    let mut read = BlockColumns::default();
    for flags in [0, WIDE, 1 << 40] {
        decode(&with_unknown(flags), &forms, OBJECTS, &mut read).unwrap();
        assert_eq!(read, columns);
    }
    let error = decode(&with_unknown(CRITICAL), &forms, OBJECTS, &mut read).unwrap_err();
    assert_eq!(error, FormatError::UnknownCriticalColumn { id: 40 });
    assert!(error.to_string().contains("update barrow"), "{error}");
}

#[test]
fn targets_far_apart_need_wide_symbols() {
    let forms = [ShapeForm { prefix: 2, has_tail: false, is_explicit: false }];
    let mut columns = BlockColumns {
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        shapes: vec![0],
        shallow_bytes: vec![16],
        counts: vec![2],
        targets: vec![u32::MAX / 2, u32::MAX - 1],
        ..BlockColumns::default()
    };
    let frame = frame_of(&mut columns, Compression::None);
    let mut read = BlockColumns::default();
    decode(&frame, &forms, u32::MAX, &mut read).unwrap();
    assert_eq!(read, columns);
}

#[test]
fn a_length_that_lies_allocates_nothing() {
    let mut directory = Vec::new();
    for value in [0, 1, 0, 0, 1, ColumnId::DICTIONARY.0, 2, 0, 1 << 20, (10 << 20) + 1, 4] {
        put_varint(&mut directory, value);
    }
    directory.extend_from_slice(&[0; 4]);
    assert!(matches!(Directory::parse(&directory), Err(FormatError::OutOfRange { .. })));
}

/// Names as far apart as they can be, through the column alone and with codes that lead nowhere.
#[test]
fn names_stay_within_the_string_ids() {
    let forms = [ShapeForm::default()];
    let names = [u32::MAX, 0, u32::MAX, u32::MAX - 1].map(|name| Some(StringId(name)));
    let mut columns = BlockColumns {
        dictionary: vec![ShapeId(0)],
        forms: forms.to_vec(),
        shapes: vec![0; 5],
        shallow_bytes: vec![16; 5],
        counts: vec![0; 5],
        names: [&[None], names.as_slice()].concat(),
        ..BlockColumns::default()
    };
    let frame = frame_of(&mut columns, Compression::None);
    let mut read = BlockColumns::default();
    decode(&frame, &forms, OBJECTS, &mut read).unwrap();
    assert_eq!(read, columns);

    let whole = Frame::parse(&frame, 0).unwrap();
    let directory = Directory::parse(whole.directory().unwrap()).unwrap();
    for codes in [[2, 0, 0, 0, 0], [3, 4, 4, 0, 0], [u64::MAX, 0, 0, 0, 0], [(1 << 33) + 1, 0, 0, 0, 0]] {
        let mut raw = Vec::new();
        codes.iter().for_each(|&code| put_varint(&mut raw, code));
        let mut directory = directory.clone();
        let column = directory.columns.last_mut().unwrap();
        assert_eq!(column.id, ColumnId::NAME);
        let before = whole.unchecked_body().len() - column.stored_length as usize;
        let length = raw.len() as u32;
        *column = Column { raw_length: length, stored_length: length, crc: crc32c::crc32c(&raw), ..*column };
        let body = [&whole.unchecked_body()[..before], &raw].concat();
        let frame = encode_frame(SectionType::BLOCK, NO_SNAPSHOT, 0, &directory.encode(), &body);
        let error = decode(&frame, &forms, OBJECTS, &mut BlockColumns::default()).unwrap_err();
        assert!(matches!(error, FormatError::OutOfRange { what: "difference of names", .. }), "{codes:?}: {error}");
    }
}
