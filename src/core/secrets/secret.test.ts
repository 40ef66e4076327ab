import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSecrets, requireSecretValue, type SecretInput, writeSecrets } from './secret.ts'

test('a run names its secrets for a variable or a file', () => {
  const inputs: SecretInput[] = ['PGPASSWORD', { name: 'TLS_KEY', as: 'file' }, { name: 'X1' }]
  const uses = readSecrets(inputs, 'secrets')
  assert.deepEqual(uses, [
    { name: 'PGPASSWORD', as: 'env' },
    { name: 'TLS_KEY', as: 'file' },
    { name: 'X1', as: 'env' },
  ])
  assert.deepEqual(writeSecrets(uses), ['PGPASSWORD', { name: 'TLS_KEY', as: 'file' }, 'X1'])
})

test('rejects a secret that cannot be provided, when it is requested', () => {
  const table: [why: string, inputs: SecretInput[], env: Record<string, string>, field: RegExp][] =
    [
      ['an invalid variable name', ['PG-PASSWORD'], {}, /^secrets\.0 is not a valid variable name/],
      ['an empty name', ['A', ''], {}, /^secrets\.1 is not a valid variable name/],
      ['a name reserved by Punctual', ['PUNCTUAL_FENCE'], {}, /^secrets\.0 is set by Punctual/],
      ['one twice', ['A', 'A'], {}, /^secrets\.1 would be the variable A, which is set already/],
      ['one that env sets', ['A'], { A: '1' }, /^secrets\.0 would be the variable A/],
      [
        'one whose file variable is another secret',
        ['A_FILE', { name: 'A', as: 'file' }],
        {},
        /variable A_FILE/,
      ],
    ]
  for (const [why, inputs, env, message] of table) {
    assert.throws(
      () => readSecrets(inputs, 'secrets', env),
      { code: 'invalid_field', message },
      why,
    )
  }
})

test('a value must be text, long enough to be masked and short enough to be provided', () => {
  const table: [why: string, value: string, message: RegExp | null][] = [
    ['four characters', 'abcd', null],
    ['three', 'abc', /fewer than 4 characters/],
    ['three and a line end', 'abc\n', /fewer than 4 characters/],
    ['64 KiB', 'é'.repeat(32 * 1024), null],
    ['more', `${'é'.repeat(32 * 1024)}x`, /is 65537 bytes; at most 65536 are kept/],
    ['NUL', 'abcd\0', /contains NUL/],
    ['half a character', 'abcd\uD800', /is not text/],
  ]
  for (const [why, value, message] of table) {
    if (message === null) requireSecretValue(value, 'value')
    else assert.throws(() => requireSecretValue(value, 'value'), { message }, why)
  }
})
