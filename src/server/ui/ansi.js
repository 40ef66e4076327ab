// Colours of terminals, read from what a job prints. Text stays text: all a sequence can do here is to
// choose among the styles below.
/* oxlint-disable no-control-regex -- what it is for */

/** A sequence that is longer than this without an end is none. */
const MOST_PENDING = 4096
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** `ESC [ … m` and its like; `ESC ]` titles and links, and other strings; sequences of two or three characters. */
const SEQUENCE =
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-OQ-WYZ\\`-~]/y
/** The beginning of one, as far as a piece of text can tell. */
const UNFINISHED =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*$|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0080-\u009f]*\u001b?$|\u001b[ -/]*$/y

const ATTRIBUTES = {
  1: ['bold', true],
  2: ['dim', true],
  3: ['italic', true],
  4: ['underline', true],
  7: ['inverse', true],
  9: ['struck', true],
  23: ['italic', false],
  24: ['underline', false],
  27: ['inverse', false],
  29: ['struck', false],
}

/**
 * Reads text that comes in pieces. `read` answers `{ text, classes, color, background }` for each run of
 * one style; a colour is a number of the palette as a class, and any other as `rgb(…)`.
 */
export function createAnsiReader() {
  let style = {}
  let pending = ''

  const read = (piece) => {
    const text = pending + piece
    const segments = []
    const emit = (shown) => {
      if (shown === '') return
      segments.push({ text: shown, ...appearanceOf(style) })
    }
    pending = ''
    let from = 0
    CONTROL.lastIndex = 0
    for (let match = CONTROL.exec(text); match; match = CONTROL.exec(text)) {
      const at = match.index
      emit(text.slice(from, at))
      from = at + 1
      if (match[0] === '\r') {
        // A line that is drawn over itself is shown as lines.
        if (from === text.length) pending = '\r'
        else if (text[from] !== '\n') emit('\n')
        continue
      }
      SEQUENCE.lastIndex = at
      const sequence = SEQUENCE.exec(text)
      if (sequence) {
        from = SEQUENCE.lastIndex
        if (sequence[2] === 'm') style = styleAfter(style, sequence[1])
      } else if (isUnfinished(text, at)) {
        pending = text.slice(at)
        from = text.length
      }
      CONTROL.lastIndex = from
    }
    emit(text.slice(from))
    return segments
  }
  return { read }
}

/** Text without its colours, for places that show none. */
export function withoutAnsi(text) {
  return createAnsiReader()
    .read(text)
    .map((segment) => segment.text)
    .join('')
}

function isUnfinished(text, at) {
  if (text.length - at > MOST_PENDING) return false
  UNFINISHED.lastIndex = at
  return UNFINISHED.test(text)
}

function styleAfter(before, parameters) {
  const codes = parameters.split(/[;:]/).map(Number)
  let style = { ...before }
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]
    const [name, value] = ATTRIBUTES[code] ?? []
    if (code === 0) style = {}
    else if (code === 22) style = { ...style, bold: false, dim: false }
    else if (name) style[name] = value
    else if (code === 38 || code === 48) {
      const { color, length } = extendedColor(codes, at + 1)
      style[code === 38 ? 'front' : 'back'] = color
      at += length
    } else if (code >= 30 && code <= 37) style.front = code - 30
    else if (code === 39) style.front = undefined
    else if (code >= 40 && code <= 47) style.back = code - 40
    else if (code === 49) style.back = undefined
    else if (code >= 90 && code <= 97) style.front = code - 82
    else if (code >= 100 && code <= 107) style.back = code - 92
  }
  return style
}

/** `5;n` is one of 256 colours, `2;r;g;b` any; `length` says how many codes that took. */
function extendedColor(codes, at) {
  const isByte = (code) => Number.isInteger(code) && code >= 0 && code <= 255
  if (codes[at] === 5) {
    const number = codes[at + 1]
    return { color: isByte(number) ? paletteColor(number) : undefined, length: 2 }
  }
  if (codes[at] !== 2) return { color: undefined, length: 0 }
  const channels = codes.slice(at + 1, at + 4)
  const isColor = channels.length === 3 && channels.every(isByte)
  return { color: isColor ? `rgb(${channels.join(' ')})` : undefined, length: 4 }
}

const LEVELS = [0, 95, 135, 175, 215, 255]

function paletteColor(number) {
  if (number < 16) return number
  if (number >= 232)
    return `rgb(${Array(3)
      .fill(8 + (number - 232) * 10)
      .join(' ')})`
  const cube = number - 16
  const channels = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6]
  return `rgb(${channels.map((channel) => LEVELS[channel]).join(' ')})`
}

function appearanceOf(style) {
  const { bold, dim, italic, underline, struck, inverse } = style
  const [front, back] = inverse ? [style.back, style.front] : [style.front, style.back]
  const flags = { bold, dim, italic, underline, struck }
  const classes = Object.keys(flags).filter((name) => flags[name])
  if (typeof front === 'number') classes.push(`front-${front}`)
  else if (inverse && front === undefined) classes.push('front-page')
  if (typeof back === 'number') classes.push(`back-${back}`)
  else if (inverse && back === undefined) classes.push('back-text')
  return {
    classes,
    color: typeof front === 'string' ? front : undefined,
    background: typeof back === 'string' ? back : undefined,
  }
}
