import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Names } from '../../src/core/expression/check.ts'
import { readShellText } from '../../src/core/expression/shell/shell-text.ts'
import { scaledMs } from '../support/slowdown-factor.ts'

const names: Names = {
  input: null,
  facts: [],
  hasItem: false,
  maySecrets: false,
  refuseStep: () => undefined,
}

const X = '${{ input.x }}'

/** Output of a real shell for the text when every expression in it has this value. */
function printed(text: string, value: string): string {
  const { text: written, variables } = readShellText(text, names, 'run')
  const env = Object.fromEntries(variables.map(([name]) => [name, value]))
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', written], { env })
  assert.equal(status, 0, `${written}\n${stderr.toString()}`)
  return stdout.toString()
}

const VALUES = [
  'plain',
  'two words  and spaces',
  '; echo HACKED',
  '$(echo HACKED)',
  '`echo HACKED`',
  '"; echo HACKED; "',
  "'; echo HACKED; '",
  '\\',
  '*',
  '$HOME ${PATH}',
  '${{ run.id }}',
  'a\nb',
  '-n',
  '&& echo HACKED #',
  'PUNCTUAL_EXPR_1',
]

const places: [where: string, text: string, around: [string, string]][] = [
  ['bare', `printf '<%s>' ${X}`, ['<', '>']],
  ['within a bare word', `printf '<%s>' --day=${X}/x`, ['<--day=', '/x>']],
  ['in double quotes', `printf '<%s>' "a ${X} b"`, ['<a ', ' b>']],
  ['in a command in double quotes', `printf '<%s>' "$(printf '%s|' ${X})"`, ['<', '|>']],
  ['in double quotes in a command', `printf '<%s>' "$(printf '%s|' "${X}")"`, ['<', '|>']],
  ['behind a closed text', `printf '%s' 'it is "' ; printf '%s|' ${X}`, ['it is "', '|']],
  ['behind a comment', `# don't mind\nprintf '<%s>' ${X}`, ['<', '>']],
  ['behind an escaped quote', `printf '%s<%s>' \\" ${X}`, ['"<', '>']],
  ['as a default', `printf '<%s>' "\${NONE:-${X}}"`, ['<', '>']],
  ['in a variable', `V=${X}; printf '<%s>' "$V"`, ['<', '>']],
  ['in parentheses', `(printf '<%s>' ${X})`, ['<', '>']],
  ['in a document', `cat <<END\n<${X}>\nEND\n`, ['<', '>\n']],
  ['behind a document', `cat <<'END'\nit's "\nEND\nprintf '<%s>' ${X}`, ['it\'s "\n<', '>']],
  ['behind a document with tabs', `cat <<-END\n\t'\n\tEND\nprintf '<%s>' ${X}`, ["'\n<", '>']],
  ['in a document in a command', `printf '%s|' "$(cat <<END\n<${X}>\nEND\n)"`, ['<', '>|']],
]

for (const [where, text, [before, after]] of places) {
  test(`an expression ${where} reaches a shell unchanged, whatever its value`, () => {
    for (const value of VALUES) {
      assert.equal(printed(text, value), before + value + after)
    }
  })
}

const refused: [where: string, text: string, why: RegExp][] = [
  ['in single quotes', `sh -c 'echo ${X}'`, /single quotes/],
  ['in a document whose end is quoted', `cat <<'END'\n${X}\nEND\n`, /quoted delimiter/],
  ['in a document whose end is escaped', `cat <<\\END\n${X}\nEND\n`, /quoted delimiter/],
  ['where a shell calculates', `echo $(( ${X} + 1 ))`, /evaluates/],
  ['where a shell calculates as a command', `(( ${X} > 1 ))`, /evaluates/],
  ['behind a backslash', `echo \\${X}`, /stands behind a \\/],
]

for (const [where, text, why] of refused) {
  test(`an expression ${where} is refused`, () => {
    assert.throws(() => readShellText(text, names, 'run'), why)
  })
}

test('nothing in a value is ever executed, in any surrounding text', () => {
  const piece = fc.constantFrom(
    '"',
    ' ',
    'x',
    '\\',
    '$',
    '(',
    ')',
    '`',
    '#',
    '\n',
    '${A}',
    '<<E',
    ';',
    X,
    X,
  )
  const evil = [
    '$(echo HACKED >&2)',
    '`echo HACKED >&2`',
    '";echo HACKED >&2;"',
    "';echo HACKED >&2'",
  ]
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      let text
      try {
        text = readShellText(`: ${pieces.join('')}`, names, 'run')
      } catch {
        return
      }
      const env = Object.fromEntries(text.variables.map(([name], nth) => [name, evil[nth % 4]]))
      // Half of these are invalid shell text; what matters is that no value became a command.
      const { stderr } = spawnSync('/bin/sh', ['-c', text.text], {
        env,
        timeout: scaledMs(60_000),
      })
      assert.doesNotMatch(stderr.toString(), /^HACKED$/m, text.text)
    }),
    { numRuns: 150 },
  )
})
