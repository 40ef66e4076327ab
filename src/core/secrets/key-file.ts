/** A key in a key file: a line `<id> <base64 of 32 bytes>`. The first key encrypts. */
export interface KeyLine {
  readonly id: string
  readonly bytes: Buffer
}

const KEY_BYTES = 32
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/
/** Random bytes are nearly all different; a typed password is not. */
const MIN_DISTINCT = 16

/** Returns the keys, or an error text to append to the file's path. The text never contains a part of a key. */
export function parseKeys(text: string): KeyLine[] | string {
  const keys: KeyLine[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const key = parseKey(trimmed)
    if (typeof key === 'string') return `has a line ${index + 1} that ${key}`
    if (keys.some(({ id }) => id === key.id)) return `has two keys called ${key.id}`
    keys.push(key)
  }
  return keys.length === 0
    ? 'holds no key; remove it, or write one with `punctual secret new-key`'
    : keys
}

function parseKey(line: string): KeyLine | string {
  const [id = '', text = '', more] = line.split(/\s+/)
  if (more !== undefined || !ID.test(id)) return 'is not an id and a key'
  if (!BASE64.test(text)) return `is not a key: base64 of ${KEY_BYTES} bytes is expected`
  const bytes = Buffer.from(text, 'base64')
  if (new Set(bytes).size < MIN_DISTINCT) return 'is easy to guess'
  return { id, bytes }
}

/** A new random key. Its id only distinguishes it from other keys. */
export function newKey(randomBytes: (count: number) => Buffer): KeyLine {
  return { id: `k${randomBytes(4).toString('hex')}`, bytes: randomBytes(KEY_BYTES) }
}

export function formatKey({ id, bytes }: KeyLine): string {
  return `${id} ${bytes.toString('base64')}\n`
}
