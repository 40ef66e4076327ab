import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OutputMarker, markerOf } from './markers.ts'

const progress = (fraction: number, text = ''): OutputMarker => ({
  kind: 'progress',
  fraction,
  text,
})

const TABLE: [line: string, mark: OutputMarker | undefined][] = [
  ['::progress:: 42% loading', progress(0.42, 'loading')],
  ['::progress::42%', progress(0.42)],
  ['::progress:: 12.5% \u001B[1mbold', progress(0.125, '\u001B[1mbold')],
  ['::progress:: 3/4', progress(0.75)],
  ['::progress:: 0.5 half way there  ', progress(0.5, 'half way there')],
  ['::progress:: 100%\r', progress(1)],
  ['::progress:: 0/7 begun', progress(0, 'begun')],
  ['::group::Install', { kind: 'group', text: 'Install' }],
  ['::group::', { kind: 'group', text: '' }],
  ['::endgroup::', { kind: 'endgroup' }],
  ['::error::no such table: users', { kind: 'error', text: 'no such table: users' }],
  ['::warning:: slow ', { kind: 'warning', text: 'slow' }],

  ['::progress:: 101%', undefined],
  ['::progress:: -1%', undefined],
  ['::progress:: 5/4', undefined],
  ['::progress:: 0/0', undefined],
  ['::progress:: 1.5', undefined],
  ['::progress:: 42', undefined],
  ['::progress:: NaN%', undefined],
  ['::progress::  42%', undefined],
  ['::progress:: 42%loading', undefined],
  ['::endgroup::x', undefined],
  [' ::error::indented', undefined],
  ['::Error::', undefined],
  ['::cancel::', undefined],
  [':: error ::', undefined],
  ['', undefined],
]

for (const [line, mark] of TABLE) {
  test(`${JSON.stringify(line)} is ${mark?.kind ?? 'an ordinary line'}`, () =>
    assert.deepEqual(markerOf(line), mark))
}

test('keeps the beginning of a very long text', () => {
  const mark = markerOf(`::error::${'x'.repeat(1_000_000)}`)
  assert.deepEqual(mark, { kind: 'error', text: 'x'.repeat(1_000) })
})
