import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

interface Segment {
  readonly text: string
  readonly classes: readonly string[]
  readonly color: string | undefined
  readonly background: string | undefined
}

const PAGE = join(import.meta.dirname, '../../src/server/ui')
// The page's JavaScript, unchanged.
const { createAnsiReader, withoutAnsi } = (await import(join(PAGE, 'ansi.js'))) as {
  createAnsiReader(): { read(text: string): Segment[] }
  withoutAnsi(text: string): string
}

/** `red:<text>` for each part with one style, for chunks that arrive one after the other. */
function shown(...pieces: string[]): string {
  const { read } = createAnsiReader()
  return pieces
    .flatMap((piece) => read(piece))
    .map(({ text, classes, color, background }) => {
      const style = [...classes, color && `c=${color}`, background && `b=${background}`]
      return `${style.filter(Boolean).join(' ')}:${text}`
    })
    .join('|')
}

const TABLE: [why: string, pieces: string[], expected: string][] = [
  ['nothing', [''], ''],
  ['plain text', ['a\n\tb'], ':a\n\tb'],
  ['a colour and its end', ['\u001b[31mred\u001b[0m no'], 'front-1:red|: no'],
  ['an empty end', ['\u001b[32mok\u001b[m.'], 'front-2:ok|:.'],
  ['several at once', ['\u001b[1;4;33;44mx'], 'bold underline front-3 back-4:x'],
  ['bright colours', ['\u001b[91;102mx'], 'front-9 back-10:x'],
  ['attributes that end by themselves', ['\u001b[1;3mx\u001b[22;23my'], 'bold italic:x|:y'],
  [
    'colours that end by themselves',
    ['\u001b[31;42mx\u001b[39my\u001b[49mz'],
    'front-1 back-2:x|back-2:y|:z',
  ],
  ['one of 256', ['\u001b[38;5;208mx'], 'c=rgb(255 135 0):x'],
  ['one of 256 that is one of 16', ['\u001b[38;5;9mx'], 'front-9:x'],
  ['a grey', ['\u001b[48;5;244mx'], 'b=rgb(128 128 128):x'],
  ['any colour', ['\u001b[38;2;1;2;3mx'], 'c=rgb(1 2 3):x'],
  ['any colour with colons', ['\u001b[38:2:1:2:3mx'], 'c=rgb(1 2 3):x'],
  ['a colour that is none', ['\u001b[38;2;999;2;3mx'], ':x'],
  ['a colour without its numbers', ['\u001b[38;5mx'], ':x'],
  ['a colour of the next code', ['\u001b[38;5;1;1mx'], 'bold front-1:x'],
  ['inverse', ['\u001b[7mx'], 'front-page back-text:x'],
  ['inverse colours', ['\u001b[7;31mx'], 'front-page back-1:x'],
  ['a sequence in two pieces', ['a\u001b[3', '1mred'], ':a|front-1:red'],
  ['a sequence in three pieces', ['\u001b', '[', '31mx'], 'front-1:x'],
  ['a colour that lasts', ['\u001b[31ma', 'b'], 'front-1:a|front-1:b'],
  ['moves of the cursor', ['a\u001b[2K\u001b[1A\u001b[?25lb'], ':a|:b'],
  ['a title', ['\u001b]0;title\u0007x'], ':x'],
  ['a title in pieces', ['\u001b]0;ti', 'tle\u001b', '\\x'], ':x'],
  ['a link', ['\u001b]8;;javascript:alert(1)\u001b\\text\u001b]8;;\u001b\\'], ':text'],
  ['other strings', ['\u001bPq#0\u001b\\x\u001b_y\u001b\\z'], ':x|:z'],
  ['sequences of two characters', ['\u001bc\u001b(Bx'], ':x'],
  ['escapes of one byte', ['\u009b31mx'], 'front-1:x'],
  ['a bell and a backspace', ['a\u0007b\u0008c\u0000d'], ':a|:b|:c|:d'],
  ['lines from Windows', ['a\r\nb\r', '\nc'], ':a|:\nb|:\nc'],
  ['a line drawn over itself', ['10%\r20%\r', '30%'], ':10%|:\n|:20%|:\n|:30%'],
  ['markup', ['<img src=x onerror=alert(1)>'], ':<img src=x onerror=alert(1)>'],
  ['an escape that is followed by none', ['\u001b\u001b[31mx'], 'front-1:x'],
  ['an escape at the end', ['x\u001b'], ':x'],
  ['letters of other scripts', ['\u001b[31mü€😀'], 'front-1:ü€😀'],
]
for (const [why, pieces, expected] of TABLE) {
  test(`the log of the page shows ${why}`, () => assert.equal(shown(...pieces), expected))
}

test('a sequence without an end does not swallow the text after it', () => {
  const rest = 'x'.repeat(10_000)
  assert.ok(shown(`\u001b]0;${rest}`).endsWith(rest))
  assert.ok(shown(`\u001b]0;`, rest, 'more').endsWith('more'))
})

test('hundreds of thousands of sequences are read in one pass', () => {
  const { read } = createAnsiReader()
  assert.equal(read('\u001b[31mx\u001b'.repeat(100_000)).length, 100_000)
  assert.deepEqual(read('\u009d'.repeat(1_000_000)), [])
})

test('plain text for places without colours contains no sequences', () => {
  assert.equal(withoutAnsi('\u001b[31merror\u001b[0m: \u001b]8;;http://x\u0007no'), 'error: no')
})

test('the page never turns text into markup', () => {
  for (const name of readdirSync(PAGE)) {
    const text = readFileSync(join(PAGE, name), 'utf8')
    const ways =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\b|new Function/
    assert.doesNotMatch(text, ways, name)
  }
})
