"""The certificate of a store's door: made once, kept in its folder, known by its digest alone."""

from __future__ import annotations

import hashlib
import os
import ssl
from pathlib import Path

from headway.live.home.ownership import own_file
from headway.model.errors import HeadwayError

FILE = "door.pem"
YEARS = 10


def certificate(folder: Path) -> tuple[Path, str]:
    """The file with certificate and key, which nobody else can read; and its digest."""
    path = folder / FILE
    if not path.exists():
        _write(path)
    os.close(own_file(path, os.O_RDONLY))  # ours, and no link
    text = path.read_text()
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    pem = begin + text.partition(begin)[2].partition(end)[0] + end
    return path, hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def _write(path: Path) -> None:
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID
    except ImportError:
        raise HeadwayError(
            "a door for other hosts needs the package cryptography.", "Install it: pip install 'headway[net]'."
        ) from None
    from datetime import UTC, datetime, timedelta

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "headway")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks differ
        .not_valid_after(now + timedelta(days=365 * YEARS))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(own_file(aside, os.O_WRONLY | os.O_CREAT), "wb") as file:
        file.write(private + made.public_bytes(serialization.Encoding.PEM))
    try:
        os.link(aside, path)  # the first that was made counts
    except FileExistsError:
        pass
    finally:
        aside.unlink()
