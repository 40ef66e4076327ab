import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PunctualError } from '../errors.ts'
import type { Names } from './check.ts'
import { evaluate, type Scope } from './evaluate.ts'
import { type Json, RUN_FACTS } from './expression.ts'
import { fill } from './fill-template.ts'
import { readExpression, readTemplate } from './read-template.ts'

const names: Names = {
  input: new Map([
    ['day', 'string'],
    ['full', 'boolean'],
    ['count', 'number'],
    ['parts', 'array'],
    ['more', 'object'],
  ]),
  facts: RUN_FACTS,
  hasItem: true,
  maySecrets: false,
  refuseStep: (name) => (name === 'load' || name === 'a.b' ? undefined : { message: `no ${name}` }),
}

const scope: Scope = {
  input: { day: '2026-03-01', full: true, count: 3, parts: ['a', 'b'], more: { x: { y: [1] } } },
  run: {
    id: 'run_1',
    job: 'etl',
    project: 'shop',
    wave: 7,
    scheduledAt: '2026-03-29T03:05:00+03:00',
  },
  step: () => ({ state: 'succeeded', output: { rows: 12, list: [{ id: 5 }], empty: null } }),
  item: 'one',
  index: 4,
}

const values: [text: string, value: Json][] = [
  ['1', 1],
  ['-1.5e2', -150],
  [`'it\\'s }} here'`, "it's }} here"],
  ['"a\\n\\\\"', 'a\n\\'],
  ['true', true],
  ['null', null],
  ['input.day', '2026-03-01'],
  ['input["day"]', '2026-03-01'],
  ['input.parts[1]', 'b'],
  ['input.parts[9]', null],
  ['input.parts[-1]', null],
  ['input.more.x.y[0]', 1],
  ['input.more.nothing.below', null],
  ['input.more[input.day]', null],
  ['input.more["toString"]', null],
  ['steps.load.output.rows', 12],
  ['steps.load.output.list[0].id', 5],
  ['steps.load.state', 'succeeded'],
  ["steps['a.b'].output.empty.further", null],
  ['run.id', 'run_1'],
  ['run.wave', 7],
  ['run.scheduled_at', '2026-03-29T03:05:00+03:00'],
  ['run.scheduled_at.date', '2026-03-29'],
  ['run.scheduled_at.time', '03:05:00'],
  ['run.scheduled_at.month', 3],
  ['run.scheduled_at.weekday', 'sunday'],
  ['item', 'one'],
  ['each.index', 4],
  ['!input.full', false],
  ['!steps.load.output.empty', true],
  ['input.full && input.count > 2', true],
  ['input.full == false || input.count >= 4', false],
  ['true || false && false', true],
  ['(true || false) && false', false],
  ['input.day < "2026-04-01"', true],
  ["input.day == '2026-03-01'", true],
  ['input.parts == steps.load.output.list', false],
  ['steps.load.output.empty == null', true],
  ['length(input.parts)', 2],
  ["length('äö🙂')", 3],
  ['default(steps.load.output.empty, input.day)', '2026-03-01'],
  ["join(input.parts, '-')", 'a-b'],
  ["contains(input.parts, 'b')", true],
  ["contains(input.day, '03')", true],
  ["contains(input.more, 'x')", true],
  ["contains(input.more, 'toString')", false],
  ['text(input.parts)', '["a","b"]'],
  ["number('12')", 12],
  ['json(input.day)', '"2026-03-01"'],
]

for (const [text, value] of values) {
  test(`\${{ ${text} }} is ${JSON.stringify(value)}`, () => {
    const { expression } = readExpression(`\${{ ${text} }}`, names, 'if')
    assert.deepEqual(evaluate(expression, scope), value)
  })
}

const refusals: [text: string, message: RegExp][] = [
  ['', /is empty/],
  ['input.dya', /no input dya; did you mean input\.day\?/],
  ['inptu.day', /nothing is called inptu; did you mean input\?/],
  ['steps.gone.output', /no gone/],
  ['steps.load', /it ends where a dot and output or state after a step should be/],
  ['steps.load.result', /a step has no result/],
  ['run.time', /run has no time/],
  ['run.scheduled_at.dat', /did you mean date\?/],
  ['secrets.TOKEN', /secrets\.TOKEN cannot be given here/],
  ['each', /it ends where a dot and index after each should be/],
  ['input.day.length', /text has no members/],
  ['input.parts.first', /\[ \] takes a number/],
  ['input.day > 3', /text cannot be compared with a number by >/],
  ['input.full < true', /true or false cannot be compared/],
  ['input.day && true', /&& takes true or false, and this is text/],
  ['!input.count', /! takes true or false, and this is a number/],
  ['length(input.count)', /takes text or a list or an object, and this is a number/],
  ['lenght(input.parts)', /there is no function lenght; did you mean length\?/],
  ['length()', /length is written length\(text or list\)/],
  ['toString(1)', /there is no function toString/],
  ['1 < 2 < 3', /comparisons cannot be chained/],
  ['input.more.__proto__', /__proto__ cannot be asked for/],
  ["input.more['constructor']", /constructor cannot be asked for/],
  ['input.day = 1', /"=" has no meaning here/],
  ['input.count + 1', /"\+" has no meaning here/],
  ['input.day | upper', /"\|" has no meaning here/],
  ["'open", /a text is not closed/],
  ['(1', /it ends where \) should be/],
  ['1 2', /there is 2 where the end should be/],
  ['1e400', /too large a number/],
  ["'\\x'", /\\x has no meaning in a text/],
  [`${'('.repeat(9)}1${')'.repeat(9)}`, /more than 8 brackets deep/],
  [`${'!'.repeat(9)}true`, /more than 8 brackets deep/],
]

for (const [text, message] of refusals) {
  test(`\${{ ${text} }} is refused`, () => {
    assert.throws(
      () => readExpression(`\${{ ${text} }}`, names, 'if'),
      (error) =>
        error instanceof PunctualError && error.field === 'if' && message.test(error.message),
    )
  })
}

test('rejects a value that is not a boolean or cannot be compared when it is evaluated', () => {
  for (const text of ['steps.load.output.rows && true', 'steps.load.output.empty < 3']) {
    const { expression } = readExpression(`\${{ ${text} }}`, names, 'if')
    assert.throws(() => evaluate(expression, scope), /should be true or false|cannot be compared/)
  }
})

test('a long chain of operators is not a deep tree', () => {
  const text = `\${{ ${Array(15_000).fill('true').join('&&')} }}`
  const { expression } = readExpression(
    text.slice(0, 60_000).replace(/&*[a-z]*$/, ' }}'),
    names,
    'if',
  )
  assert.equal(evaluate(expression, scope), true)
})

test('an expression that is a whole value keeps its type; with text around it, it becomes text', () => {
  const read = (value: unknown) => fill(readTemplate(value, names, 'with'), scope)
  assert.deepEqual(
    read({ a: '${{ input.count }}', b: ['n=${{ input.count }}', '${{ input.parts }}'], c: 1 }),
    { a: 3, b: ['n=3', ['a', 'b']], c: 1 },
  )
  assert.equal(read('$${{ input.count }}'), '${{ input.count }}')
  assert.equal(read('a $${{b}} ${{ input.count }}'), 'a ${{b}} 3')
  assert.equal(read('(${{ steps.load.output.empty }})'), '()')
})

test('never reads a value as an expression', () => {
  const template = readTemplate({ x: 'a ${{ input.day }} b' }, names, 'with')
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constant('${{ run.id }}')), (day) => {
      const filled = fill(template, { ...scope, input: { day } })
      assert.deepEqual(filled, { x: `a ${day} b` })
    }),
  )
})

test('any text is read or rejected with an error in a sentence', () => {
  const pieces = fc.constantFrom(
    '${{',
    '}}',
    '(',
    ')',
    '[',
    ']',
    '.',
    '&&',
    '!',
    '==',
    "'",
    '"',
    'input',
    'steps',
    'a',
    '1',
    '-',
    ' ',
    '$',
    '\\',
    'item',
    '__proto__',
    'length',
    ',',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
      const text = parts.join('')
      try {
        fill(readTemplate(text, { ...names, input: null }, 'with'), scope)
      } catch (error) {
        assert.ok(error instanceof PunctualError, String(error))
        assert.equal(error.code, 'invalid_expression')
      }
    }),
    { numRuns: 2_000 },
  )
})
