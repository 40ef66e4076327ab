import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replacementFor } from './foreign-fields.ts'

const FIELDS: readonly [field: string, expected: RegExp | undefined][] = [
  ['cmd', /run:/],
  ['steps.load.depends_on', /needs:/],
  ['name', /name of the file/],
  ['steps.load.name', undefined],
  ['runs_on.gpu', /labels: \{ gpu/],
  ['steps.load.runs_on.gpu', /labels: \{ gpu/],
  ['runs_on', undefined],
  ['constructor', undefined],
]
for (const [field, expected] of FIELDS) {
  test(`what to write instead of ${field}: ${expected?.source ?? 'nothing is known'}`, () => {
    const replacement = replacementFor(field)
    if (expected === undefined) assert.equal(replacement, undefined)
    else assert.match(replacement ?? '', expected)
  })
}
