import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requiredLiterals } from './required-literals.ts'

const TABLE: [pattern: string, literals: string[]][] = [
  ['connection refused', ['connection refused']],
  ['error.*timeout', ['error', 'timeout']],
  ['zebra[0-9]+ found', ['zebra', ' found']],
  ['colou?r', ['colo', 'r']],
  ['ab*cd+ef', ['a', 'cd', 'ef']],
  ['x{2,3}yz', ['yz']],
  ['(foo)?bar', ['bar']],
  ['(a(b)c)d', ['d']],
  ['1\\.5\\[ms\\]', ['1.5[ms]']],
  ['^at \\d+ms$', ['at ', 'ms']],
  ['[]x]y', ['y']],
  ['[[:alpha:]]z', ['z']],
  ['[[:^space:]]foo', ['foo']],
  ['😀?z', ['z']],

  ['foo|bar', []],
  ['(?i)foo', []],
  ['\\Qa.b\\E', []],
  ['\\x41bc', []],
  ['\\101nother', []],
  ['\\p{Greek}x', []],
  ['[unclosed', []],
  ['x{', []],
]

for (const [pattern, literals] of TABLE) {
  test(`/${pattern}/ needs ${JSON.stringify(literals)}`, () =>
    assert.deepEqual(requiredLiterals(pattern), literals))
}
