import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../limits.ts'
import { readWorkflow } from '../workflow/reading/read-workflow.ts'
import type { Names } from './check.ts'
import { readTemplate } from './read-template.ts'
import { readShellText } from './shell/shell-text.ts'
import { OpenWord } from './shell/shell-words.ts'

const NAMES: Names = {
  input: null,
  facts: [],
  hasItem: false,
  maySecrets: false,
  refuseStep: () => undefined,
}

test('examines the words of a command once, however many values follow', (t) => {
  const matching = t.mock.method(RegExp.prototype, 'test')
  const text = `echo ${'a '.repeat(2_000)}${'${{input.x}} '.repeat(2_000)}`
  const { variables, warnings } = readShellText(text, NAMES, 'run')
  const count = matching.mock.callCount()
  matching.mock.restore()
  assert.equal(variables.length, 2_000)
  assert.deepEqual(warnings, [])
  assert.ok(count < 20 * text.length, `${count} matches for ${text.length} characters`)
})

test('limits the values of a list with expressions, but not of a constant list', () => {
  const list = (count: number, last: unknown) => [...Array.from({ length: count }, () => 1), last]
  const most = LIMITS.templateValues
  assert.equal(readTemplate(list(most - 1, '${{ input.x }}'), NAMES, 'with').kind, 'list')
  assert.equal(readTemplate(list(most + 1, 1), NAMES, 'with').kind, 'constant')
  const halves = [list(most / 2, '${{ input.x }}'), list(most / 2, '${{ input.x }}')]
  for (const value of [list(most, '${{ input.x }}'), halves]) {
    assert.throws(() => readTemplate(value, NAMES, 'with'), /with: .* at most 250000 values/)
  }
})

test('recognises an assignment by its beginning, however the word is split', () => {
  for (const [text, isAssignment, isElement] of [
    ['a=', true, false],
    ['_a1+=x', true, false],
    ['a[0]=', false, true],
    ['a[0]+=x', false, true],
    ['a[0', false, false],
    ['a[0]x=', false, false],
    ['1a=', false, false],
    ['=', false, false],
    ['a+b=', false, false],
    ['', false, false],
  ] as const) {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const word = new OpenWord(0)
      word.add(text.slice(0, cut))
      word.add(text.slice(cut))
      assert.deepEqual([word.isAssignment, word.isElement], [isAssignment, isElement], text)
    }
  }
})

test('a warning has the position of its command after escaped expressions', () => {
  const text = 'echo $${{ a }} $${{ b }}\neval "${{input.x}}"; echo; eval $a'
  assert.throws(() => readShellText(text, NAMES, 'run'), /reads it as a program/)
  const allowed = 'echo $${{ a }} ${{input.x}} $${{ b }}\neval $a'
  const [warning] = readShellText(allowed, NAMES, 'run').warnings
  assert.equal(allowed.slice(warning?.at).slice(0, 4), 'eval')
})

test('rejects a value in [[ where a shell without [[ would start another command', () => {
  for (const text of ['[[ a || eval ${{input.x}} ]]', '[[ \nE\neval ${{input.x}}<<E\n']) {
    assert.throws(() => readShellText(text, NAMES, 'run'), /starts another command/)
  }
  readShellText('[[ a || b = ${{input.x}} ]]', NAMES, 'run', '/bin/bash')
  readShellText('[[ a && -n ${{input.x}} ]]', NAMES, 'run')
  readShellText('[[ a = ${{input.x}} ]] || true', NAMES, 'run')
})

test('limits the expressions of each step separately', () => {
  const list = (count: number) => Array.from({ length: count }, () => '${{ run.id }}')
  const half = list(LIMITS.stepExpressions / 2)
  const step = (count: number) => ({ task: 't', with: list(count) })
  readWorkflow({ steps: { a: step(half.length), b: step(half.length), c: step(1) } }, { job: 'j' })
  assert.throws(
    () => readWorkflow({ steps: { a: step(LIMITS.stepExpressions + 1) } }, { job: 'j' }),
    { code: 'invalid_expression', field: `steps.a.with.${LIMITS.stepExpressions}` },
  )
})
