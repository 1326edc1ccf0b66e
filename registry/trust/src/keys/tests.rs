//! What a key file takes, refuses and never shows.

use rand_core::{Infallible, TryCryptoRng, TryRng};

use super::*;

/// Counts up: for tests, which want the same bytes each time.
struct Counting(u8);

impl TryRng for Counting {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for byte in bytes {
            self.0 = self.0.wrapping_add(1);
            *byte = self.0;
        }
        Ok(())
    }
}

impl TryCryptoRng for Counting {}

fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.to_owned()).unwrap()
}

#[test]
fn a_key_file_gives_the_key_back_plain_and_protected() {
    let folder = tempfile::tempdir().unwrap();
    let key = RegistryKey::generate(&mut Counting(0));
    let words = passphrase("correct horse");
    for (name, passphrase) in [("plain.pem", None), ("protected.pem", Some(&words))] {
        let path = folder.path().join(name);
        key.write(&path, passphrase, &mut Counting(9)).unwrap();
        assert_eq!(RegistryKey::read(&path, passphrase).unwrap().public(), key.public(), "{name}");
        let expected = if passphrase.is_some() { Protection::Passphrase } else { Protection::None };
        assert_eq!(RegistryKey::protection(&path).unwrap(), expected);
    }
}

#[test]
fn a_protected_key_opens_with_its_passphrase_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    RegistryKey::generate(&mut Counting(0))
        .write(&path, Some(&passphrase("right")), &mut Counting(1))
        .unwrap();
    let fault = |passphrase: Option<&Passphrase>| match RegistryKey::read(&path, passphrase) {
        Err(KeyFileError::Text { fault, .. }) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(None), KeyTextError::Protected);
    assert_eq!(fault(Some(&passphrase("wrong"))), KeyTextError::Passphrase);
}

/// What `openssl pkcs8 -topk8` makes of the key whose secret is 32 bytes of 1, under the passphrase `words`.
mod openssl {
    pub(super) const PLAIN: &str = "\
-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB
-----END PRIVATE KEY-----
";
    /// With `-scrypt`.
    pub(super) const SCRYPT: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAihIvP7pwO3RwICQAAC
AQgCAQEwHQYJYIZIAWUDBAEqBBC5AzO6f4uMAMrpItJz5i2fBEA1ppc765bA7fa5
3+D10VxaxKr+Kbztx168Qa26Vf6vquJa5YvmBBwhBQ49jkJRi3Y9//UiZiAPEX+b
qLUcFdNK
-----END ENCRYPTED PRIVATE KEY-----
";
    /// With `-v2 aes-256-cbc -v2prf hmacWithSHA256`.
    pub(super) const PBKDF2: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg/4SUYDB3Y+gICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEMQgBqOk3CZpfBkxfdVYgmYEQArA
4X+Bj2cum8bySyy9uZZXbVQrEsK/KPAGk3lGIjj5EqgLAH9/Axzlij30XoG6IhUq
5D8+wpmKrVGzFl7buDw=
-----END ENCRYPTED PRIVATE KEY-----
";
    /// With `-v1 PBE-SHA1-3DES`.
    pub(super) const PKCS12: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MFgwHAYKKoZIhvcNAQwBAzAOBAiy/RCLni5OpQICCAAEOJkQOHbAZPl5X1kiwZVW
NeHo7FLANuocVSg0hWSKX79k3CY6GYNVd3+layXfwEmdkhbzVoXkxCBI
-----END ENCRYPTED PRIVATE KEY-----
";
}

#[test]
fn a_key_that_openssl_wrote_is_read() {
    let (words, expected) = (passphrase("words"), RegistryKey::from_seed(&[1; 32]).public());
    for text in [openssl::PLAIN, openssl::SCRYPT, openssl::PBKDF2] {
        assert_eq!(pem::read(text, Some(&words)).unwrap().public(), expected, "{text}");
    }
    // What nobody should use any more is not taken.
    assert!(pem::read(openssl::PKCS12, Some(&words)).is_err());
    let ours = pem::write(&RegistryKey::from_seed(&[1; 32]), None, &mut Counting(0)).unwrap();
    assert_eq!(*ours, openssl::PLAIN, "ours is byte for byte what openssl writes");
}

#[test]
fn a_key_file_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    let first = RegistryKey::from_seed(&[1; 32]);
    first.write(&path, None, &mut Counting(0)).unwrap();
    let second = RegistryKey::from_seed(&[2; 32]).write(&path, None, &mut Counting(0));
    assert!(matches!(second, Err(KeyFileError::Taken(_))), "{second:?}");
    assert_eq!(RegistryKey::read(&path, None).unwrap().public(), first.public());
}

#[cfg(unix)]
#[test]
fn a_key_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    RegistryKey::from_seed(&[1; 32]).write(&path, None, &mut Counting(0)).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for mode in [0o640, 0o604, 0o620, 0o666] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let read = RegistryKey::read(&path, None);
        assert!(matches!(read, Err(KeyFileError::Open { .. })), "{mode:o} {read:?}");
    }
}

#[test]
fn what_is_no_key_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(RegistryKey::read(folder.path(), None), Err(KeyFileError::NotAFile(_))));
    let rsa = "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n";
    // X25519 (1.3.101.110) in the place of Ed25519.
    let other = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB\n-----END PRIVATE KEY-----\n";
    for (text, expected) in [
        ("", KeyTextError::Syntax),
        (rsa, KeyTextError::Syntax),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", KeyTextError::Syntax),
        (other, KeyTextError::Algorithm),
    ] {
        assert_eq!(pem::read(text, None).unwrap_err(), expected, "{text}");
    }
    let large = folder.path().join("large");
    std::fs::write(&large, vec![b'x'; 20_000]).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&large, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    assert!(matches!(RegistryKey::read(&large, None), Err(KeyFileError::TooLarge(_))));
}

#[test]
fn a_hostile_file_s_rounds_are_refused_before_they_are_done() {
    use pkcs8::EncryptedPrivateKeyInfoRef;
    use pkcs8::der::Encode as _;
    use pkcs8::der::asn1::OctetStringRef;
    use pkcs8::pkcs5::{pbes2, scrypt};
    // 2^20 · 8 · 128 bytes are a gigabyte; the lanes of the second would take as long as sixteen of them.
    let memory = scrypt::Params::new(20, 8, 1).unwrap();
    let lanes = scrypt::Params::new(14, 8, 64).unwrap();
    let hostile = [
        pbes2::Parameters::generate_scrypt_aes256cbc(memory, &[0; 16], [0; 16]).unwrap(),
        pbes2::Parameters::generate_scrypt_aes256cbc(lanes, &[0; 16], [0; 16]).unwrap(),
        pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(100_000_000, &[0; 16], [0; 16]).unwrap(),
    ];
    for parameters in hostile {
        let info = EncryptedPrivateKeyInfoRef {
            encryption_algorithm: parameters.into(),
            encrypted_data: OctetStringRef::new(&[0; 64]).unwrap(),
        };
        let document = pkcs8::SecretDocument::try_from(info.to_der().unwrap()).unwrap();
        let text = document.to_pem("ENCRYPTED PRIVATE KEY", pkcs8::LineEnding::LF).unwrap();
        let read = pem::read(&text, Some(&passphrase("x")));
        assert_eq!(read.unwrap_err(), KeyTextError::Work);
    }
}

#[test]
fn a_public_key_comes_back_from_its_line_and_no_other_form_of_it_does() {
    let key = RegistryKey::from_seed(&[7; 32]).public();
    let line = key.to_string();
    assert_eq!(PublicKey::parse(&line).unwrap(), key);
    assert_eq!(PublicKey::parse(&format!(" {line}\n")).unwrap(), key);
    assert_eq!(key.id().to_tuf(), key.to_tuf().key_id().unwrap(), "the library's id is ours");
    let further = line.replace("\"keytype\"", "\"x\":1,\"keytype\"");
    let hex = line.split('"').find(|word| word.len() == 64).unwrap();
    let capitals = line.replace(hex, &hex.to_uppercase());
    assert_ne!(capitals, line);
    let weak = format!(
        r#"{{"keytype":"ed25519","keyval":{{"public":"01{}"}},"scheme":"ed25519"}}"#,
        "00".repeat(31)
    );
    for (text, expected) in [
        (further, PublicKeyError::Members),
        (capitals, PublicKeyError::Members),
        (weak, PublicKeyError::Point),
        ("{}".to_owned(), PublicKeyError::Syntax),
        (" ".repeat(5000), PublicKeyError::Syntax),
    ] {
        assert_eq!(PublicKey::parse(&text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn debug_prints_a_fixed_word() {
    assert_eq!(format!("{:?}", RegistryKey::from_seed(&[7; 32])), "RegistryKey(<secret>)");
    assert_eq!(format!("{:?}", passphrase("words")), "Passphrase(<secret>)");
}

#[test]
fn a_signature_is_its_key_s_over_these_bytes_alone() {
    let key = RegistryKey::from_seed(&[7; 32]);
    let signature = key.sign(b"role");
    assert!(key.public().verifies(b"role", &signature));
    assert!(!key.public().verifies(b"rule", &signature));
    assert!(!RegistryKey::from_seed(&[8; 32]).public().verifies(b"role", &signature));
    assert!(!key.public().verifies(b"role", &signature[..63]));
}

proptest::proptest! {
    #[test]
    fn whatever_is_taken_for_a_key_is_read_or_refused(
        at in proptest::prelude::any::<proptest::sample::Index>(),
        byte in proptest::prelude::any::<u8>(),
    ) {
        for text in [openssl::PLAIN, openssl::SCRYPT, openssl::PBKDF2] {
            let mut bytes = text.as_bytes().to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            if let Ok(text) = std::str::from_utf8(&bytes) {
                // Without a passphrase, so that no time goes into working it out.
                drop(pem::read(text, None));
            }
        }
        let mut line = RegistryKey::from_seed(&[1; 32]).public().to_string().into_bytes();
        let at = at.index(line.len());
        line[at] = byte;
        drop(PublicKey::parse(&String::from_utf8_lossy(&line)));
    }
}
