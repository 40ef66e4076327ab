/**
 * The encodings in which a secret commonly appears in the output of a program. Other
 * transformations (compression, encryption, reversal) are not recognised; docs/reference/secrets.md
 * says so.
 */

/** Shorter pieces would match everywhere, and masking them would reveal more than it hides. */
const SHORTEST_LINE = 4
const LAST_LINE_END = /[\r\n]+$/
/** The line widths of `base64` and `openssl base64`. */
const LINE_WIDTHS = [76, 64]

/** The distinct forms as bytes, one character per byte. */
export function formsOf(value: string): Set<string> {
  const forms = new Set<string>()
  for (const piece of piecesOf(value.toWellFormed())) {
    const bytes = Buffer.from(piece)
    for (const form of textForms(piece)) forms.add(Buffer.from(form).toString('latin1'))
    for (const form of [bytes.toString('hex'), ...base64Forms(bytes)]) forms.add(form)
    forms.add(bytes.toString('hex').toUpperCase())
  }
  return forms
}

/** The value, the value as a shell would pass it on, and each of its lines. */
function piecesOf(value: string): Set<string> {
  const pieces = new Set([value, value.replace(LAST_LINE_END, '')])
  const lines = value.split(/\r\n|\r|\n/)
  if (lines.length > 1) for (const line of lines) pieces.add(line).add(line.trim())
  for (const piece of pieces) if (piece.length < SHORTEST_LINE) pieces.delete(piece)
  return pieces
}

function textForms(piece: string): string[] {
  const json = JSON.stringify(piece).slice(1, -1)
  const component = encodeURIComponent(piece)
  const strict = component.replace(/[!'()*]/g, percent)
  const form = new URLSearchParams([['', piece]]).toString().slice(1)
  const urls = [component, strict, strict.replaceAll('%2F', '/'), form]
  return [
    // The newline at the end of its last line is not secret, and a log without it is hard to read.
    piece.replace(LAST_LINE_END, ''),
    json,
    json.replaceAll('/', String.raw`\/`),
    json.replace(/[^\0-\x7e]/g, escaped),
    ...urls,
    ...urls.map((url) => url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())),
  ]
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * The same bytes have three base64 encodings, depending on what precedes them. Of each, only the
 * characters that depend on these bytes alone; at the very end also the last one, and its padding.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const first = Math.ceil((before * 8) / 6)
    const inner = whole.slice(first, Math.floor(((before + bytes.length) * 8) / 6))
    const shapes = [inner, whole.slice(first).replace(/=+$/, ''), whole.slice(first)]
    const rows = LINE_WIDTHS.flatMap((width) => shapes.map((shape) => wrapped(shape, width)))
    // The positions of line breaks are known only if the secret comes first.
    return (before === 0 ? [...shapes, ...rows] : shapes).flatMap((shape) => [
      shape,
      shape.replaceAll('+', '-').replaceAll('/', '_'),
    ])
  })
}

function wrapped(text: string, width: number): string {
  return text.replace(new RegExp(`.{${width}}(?=.)`, 'g'), '$&\n')
}
