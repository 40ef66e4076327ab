import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireLogSearch } from '../../src/core/wire/views.ts'
import { type OpenApi, openApi } from './open-api.ts'

async function printed(api: OpenApi, run: string): Promise<string> {
  const { body } = await api.call<{ id: string }>('POST', '/v1/runs', { body: { run } })
  await api.call('GET', `/v1/runs/${body.id}?wait=60s`)
  return body.id
}

function finder({ call }: OpenApi, id: string) {
  return async (parameters: Record<string, string>) => {
    const query = new URLSearchParams(parameters).toString()
    return call<WireLogSearch>('GET', `/v1/runs/${id}/logs/search?${query}`)
  }
}

const places = ({ hits }: WireLogSearch) =>
  hits.map(({ line, column, length, text, text_column }) =>
    [line, text.slice(column - text_column, column - text_column + length)].join(' '),
  )

test('text and expressions are found in a long log, line by line, page by page', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await printed(api, 'seq -f "line %.0f of many" 1 60000; echo "the END" >&2')
  const find = finder(api, id)
  const one = await find({ q: 'line 54321 ' })
  assert.deepEqual([places(one.body), one.body.complete], [['54320 line 54321 '], true])
  assert.equal(one.body.hits[0]?.stream, 'stdout')

  const some = await find({ q: '^line \\d+999 of', mode: 'regex', limit: '3' })
  assert.deepEqual(places(some.body), [
    '1998 line 1999 of',
    '2998 line 2999 of',
    '3998 line 3999 of',
  ])
  assert.equal(some.body.complete, false)
  const more = await find({
    q: '^line \\d+999 of',
    mode: 'regex',
    limit: '1',
    from_line: String(some.body.next_line),
  })
  assert.deepEqual(places(more.body), ['4998 line 4999 of'])

  assert.deepEqual(places((await find({ q: 'the end' })).body), [])
  const last = await find({ q: 'the end', case: 'ignore' })
  assert.deepEqual(places(last.body), ['60000 the END'])
  assert.equal(last.body.hits[0]?.stream, 'stderr')
  const none = await find({ q: 'nowhere to be found' })
  assert.deepEqual([none.body.hits, none.body.complete, none.body.next_line], [[], true, 60_001])
})

test('colours, chunk limits and carriage returns hide no match', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await printed(
    api,
    String.raw`printf 'er\033[31mror\033[0m: one\n'; printf 'split '; sleep 0.6; echo oops >&2; printf 'word\r\n'; printf 'no end'`,
  )
  const find = finder(api, id)
  assert.deepEqual(places((await find({ q: 'error: one' })).body), ['0 error: one'])
  assert.deepEqual(places((await find({ q: 'split word$', mode: 'regex' })).body), ['2 split word'])
  assert.deepEqual(places((await find({ q: 'no end' })).body), ['3 no end'])
})

test('a line longer than the limit is searched in pieces, with a bound', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const x = (count: number) => `head -c ${count} /dev/zero | tr '\\0' x`
  const id = await printed(
    api,
    `${x(900_000)}; printf needle; ${x(20_000_000)}; printf pin; echo; echo pin`,
  )
  const find = finder(api, id)
  const { hits } = (await find({ q: 'needle' })).body
  assert.deepEqual([hits.length, hits[0]?.line, hits[0]?.column], [1, 0, 900_000])
  assert.deepEqual(places((await find({ q: 'pin' })).body), ['1 pin'])
})

const REFUSED: [why: string, parameters: Record<string, string>, message: RegExp][] = [
  ['nothing to look for', {}, /q/],
  ['empty text', { q: '' }, /q must be text of 1/],
  ['endless text', { q: 'x'.repeat(1_001) }, /1 to 1000/],
  ['a group without an end', { q: 'abc(def', mode: 'regex' }, /missing closing \) at character 1/],
  ['a range upside down', { q: 'ab[z-a]', mode: 'regex' }, /at character 4, near "z-a"/],
  ['what looks back', { q: '(a)\\1', mode: 'regex' }, /at character 4/],
  ['what looks ahead', { q: 'x(?=y)', mode: 'regex' }, /at character 2/],
  ['repeats beyond reason', { q: 'a{2000}', mode: 'regex' }, /repeat count/],
  ['another mode', { q: 'a', mode: 'fuzzy' }, /literal, regex/],
  ['too many at once', { q: 'a', limit: '1001' }, /limit/],
]

test('an invalid pattern is refused with the position of the error', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const find = finder(api, await printed(api, 'true'))
  for (const [why, parameters, message] of REFUSED) {
    const { status, body } = await find(parameters)
    assert.equal(status, 422, why)
    assert.match((body as unknown as { detail: string }).detail, message, why)
  }
})

test('expressions with exponential backtracking elsewhere are answered as fast as others', async (t) => {
  const api = await openApi(t)
  await api.startWorker()
  const id = await printed(api, `head -c 50000 /dev/zero | tr '\\0' a; echo '!'`)
  const find = finder(api, id)
  for (const q of ['(a+)+$', '(a*)*b', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){20}b']) {
    const { status, body } = await find({ q, mode: 'regex' })
    assert.deepEqual([status, body.hits], [200, []], q)
  }
})
