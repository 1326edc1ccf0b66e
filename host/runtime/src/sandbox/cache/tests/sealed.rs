//! What a file is: code for one engine and one module, sealed with one key, and nothing else.

use super::super::sealed::NotOurs;
use super::*;

#[test]
fn with_any_bit_flipped_nothing_opens() {
    let (disk, engine) = (Disk::new(), Engine::default());
    fs::create_dir_all(above(&disk.key())).unwrap();
    let key = Key::open(&disk.key(), &SystemEntropy).unwrap();
    let purpose = Purpose::new(&engine, Digest::of(b"module"));
    let mut bytes = purpose.seal(b"machine code", &key);
    bytes.extend(b"machine code");
    assert!(purpose.open(&bytes, &key).is_ok());
    for at in 0..bytes.len() * 8 {
        bytes[at / 8] ^= 1 << (at % 8);
        let wanted = if at / 8 < 80 { NotOurs::Header } else { NotOurs::Mac };
        assert_eq!(purpose.open(&bytes, &key).err(), Some(wanted), "bit {at}");
        bytes[at / 8] ^= 1 << (at % 8);
    }
    for length in 0..bytes.len() {
        let wanted = if length < 112 { NotOurs::Short } else { NotOurs::Header };
        assert_eq!(purpose.open(&bytes[..length], &key).err(), Some(wanted), "{length} bytes");
    }
}

#[test]
fn what_another_key_has_sealed_is_not_taken() {
    let (disk, other, engine) = (Disk::new(), Disk::new(), Engine::default());
    keep(&disk.cache(), &engine, EMPTY, EMPTY);
    keep(&other.cache(), &engine, EMPTY, EMPTY);
    assert!(finds(&disk.cache(), &engine, EMPTY));
    assert_ne!(fs::read(disk.key()).unwrap(), fs::read(other.key()).unwrap());
    fs::copy(other.file(&engine, EMPTY), disk.file(&engine, EMPTY)).unwrap();
    assert!(!finds(&disk.cache(), &engine, EMPTY));
    // The same with the other's key in the place of this one's: all that was kept here is foreign.
    keep(&disk.cache(), &engine, EMPTY, EMPTY);
    fs::copy(other.key(), disk.key()).unwrap();
    assert!(!finds(&disk.cache(), &engine, EMPTY));
}

#[test]
fn what_another_module_was_compiled_to_is_not_taken_under_this_name() {
    let (disk, engine) = (Disk::new(), Engine::default());
    keep(&disk.cache(), &engine, b"one", EMPTY);
    keep(&disk.cache(), &engine, b"two", IMPORTS_X);
    fs::copy(disk.file(&engine, b"one"), disk.file(&engine, b"two")).unwrap();
    assert!(finds(&disk.cache(), &engine, b"one"));
    assert!(!finds(&disk.cache(), &engine, b"two"));
}

#[test]
fn what_another_engine_has_compiled_is_not_taken() {
    let disk = Disk::new();
    let with = |fuel| Engine::new(wasmtime::Config::new().consume_fuel(fuel)).unwrap();
    let (one, other) = (with(true), with(false));
    keep(&disk.cache(), &one, EMPTY, EMPTY);
    assert!(finds(&disk.cache(), &with(true), EMPTY), "an engine of the same settings");
    assert!(!finds(&disk.cache(), &other, EMPTY));
    // Under the other's name too.
    assert_ne!(disk.file(&one, EMPTY), disk.file(&other, EMPTY));
    fs::copy(disk.file(&one, EMPTY), disk.file(&other, EMPTY)).unwrap();
    assert!(!finds(&disk.cache(), &other, EMPTY));
    // Before the engine looks itself.
    let (bytes, key) = (fs::read(disk.file(&one, EMPTY)).unwrap(), Key::look(&disk.key()).unwrap().unwrap());
    let opened = Purpose::new(&other, Digest::of(EMPTY)).open(&bytes, &key);
    assert_eq!(opened.err(), Some(NotOurs::Header));
}
