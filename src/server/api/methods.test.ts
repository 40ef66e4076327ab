import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { createTestApi, TEST_TOKEN } from './testing/fake-scheduler.ts'

interface Problem {
  readonly code: string
  readonly field?: string
}

test('a method that a path does not support is refused as such, whatever else is wrong', async (t) => {
  const api = createTestApi()
  t.after(() => api.close())
  const url = await api.listen({ host: '127.0.0.1', port: 0 })
  const ask = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const asked = request(url + path, {
      method,
      headers: { authorization: `Bearer ${TEST_TOKEN}`, ...headers },
    })
    asked.end()
    const [answer] = (await once(asked, 'response')) as [
      AsyncIterable<Buffer> & { statusCode: number },
    ]
    let text = ''
    for await (const piece of answer) text += piece.toString()
    return { status: answer.statusCode, code: (JSON.parse(text) as Problem).code }
  }
  // QUERY is a method with a body, and TRACE one that the framework knows.
  for (const method of ['QUERY', 'TRACE', 'PROPFIND', 'DELETE', 'PATCH']) {
    for (const path of ['/v1/runs', '/v1/runs?id=1', '/livez?a=b']) {
      const refused = { status: 405, code: 'method_not_allowed' }
      assert.deepEqual(await ask(method, path), refused, `${method} ${path}`)
    }
    assert.deepEqual(await ask(method, '/v1/nothing'), { status: 404, code: 'not_found' }, method)
  }
})

test('an invalid project header is refused, also where the project makes no difference', async () => {
  const api = createTestApi()
  for (const project of ['', '^=8t', '../x']) {
    for (const url of ['/v1/runs', '/v1/storage', '/v1/secret-keys']) {
      const headers = { authorization: `Bearer ${TEST_TOKEN}`, 'punctual-project': project }
      const { statusCode, body } = await api.inject({
        url,
        headers: { host: 'localhost', ...headers },
      })
      const { code, field } = JSON.parse(body) as Problem
      assert.deepEqual([statusCode, code, field], [400, 'invalid_request', 'Punctual-Project'], url)
    }
  }
})
