"""Word lists of redaction: what names of secrets end in, and words that are not secrets."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What is said of a password, and what stands for one in forms, types and documentation.
NON_SECRET_WORDS = _words(
    """
    password passwords passwd passwort kennwort contraseña contrasena motdepasse passphrase passcode
    pwd pass token tokens secret secrets secreto geheimnis geheim apikey api key keys value values
    string str text char varchar bytes byte int integer number bool boolean object array any void
    null none nil undefined true false yes no on off required optional mandatory hidden visible
    input field label title type name username user email mail login placeholder example sample
    default confirm confirmation current new old forgot reset change update show hide enter repeat
    access refresh bearer basic digest include omit same-origin read write internal external public
    private enabled disabled unknown empty blank missing invalid valid wrong correct incorrect weak
    strong good bad short long safe secure insecure unsafe expired stored saved kept hashed salted
    encrypted encoded masked logged leaked stolen lost found changed set unset rotated revoked
    refreshed generated issued printed shown displayed asked checked verified sent needed used
    reused shared protected written broken gone fine okay ready stale outdated compromised simple
    strength policy manager rules hint length history recovery prompt
    the a an not never always only too also still now already just here there this that these those
    same different unique random very case at in on of to for from with without by as if when where
    which who what how why is was are be been being and or but because so than then it its my your
    our their his her see ask use one two three four
    pflicht pflichtfeld falsch richtig korrekt ungültig gültig abgelaufen gesperrt erforderlich
    sicher unsicher gespeichert geändert vergessen gehasht verschlüsselt notwendig leer bekannt
    nicht zu sehr schon noch immer nur kein keine ein eine der die das den dem mein dein unser weg
    kaputt verloren eingeben ändern anders jetzt geheim wichtig
    obligatoire requis invalide valide expiré bloqué oublié perdu perdue stocké haché chiffré vide
    trop très pas le la les un une de du des que dans sur pour avec bien manquant manquante cassé
    obligatorio obligatoria requerido requerida incorrecta incorrecto correcta correcto inválida
    inválido válida válido segura seguro débil guardada guardado cifrada vacía muy demasiado no el
    los las una uno que en con para por del importante
    json yaml http https oauth jwt bcrypt scrypt vault bitwarden keychain keyring env dotenv stdin
    """
)
PREDICATE_ENDINGS = tuple(
    _words(
        """
        ed ing able ible ive ous ful less ly al ent ant ary ory ic
        bar lich haft iert ée ées és ique eux euse ado ada ido ida
        """
    )
)

# The last word of a name: DB_PASS, adminPassword.
PASSWORD_NAMES = _words(
    """
    password passwd passphrase passcode pwd pw pass psk passwort kennwort contraseña contrasena mdp
    pswd pin requirepass pgpassword sshpass
    """
)
SECRET_NAMES = _words(
    """
    secret token apikey pat credential credentials jwt authkey secretkey accesskey mnemonic
    """
)
# The word before "key".
SECRET_KEYS = _words(
    """
    api secret access private auth encryption signing master admin service app application account
    client license licence session cookie deploy write ingest shared storage webhook security
    subscription token jwt hmac aes server integration crypto decryption
    """
)
OTHER_KEYS = _words(
    """
    public pub primary foreign cache sort partition group index idempotency map host hash row object
    bucket s unique composite natural routing lookup search dedupe lock message event registry
    translation i metadata config locale kms ssh gpg pgp
    """
)
# A name with one of these words counts tokens, or means one of the text.
COUNTED = _words(
    """
    max min num count total n limit pad eos bos unk sep cls mask special per next prev previous
    continuation page public
    """
)
NAME_SUFFIXES = _words("value base data default plain raw b prod production staging dev")
COOKIE_ATTRIBUTES = _words("path domain expires max-age samesite secure httponly")
