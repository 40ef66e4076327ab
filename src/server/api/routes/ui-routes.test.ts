import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestApi } from '../testing/fake-scheduler.ts'

const api = createTestApi()
const ask = (accept: string | undefined, method: 'GET' | 'HEAD' = 'GET') =>
  api.inject({
    method,
    url: '/',
    headers: { host: 'localhost', ...(accept === undefined ? {} : { accept }) },
  })

const BROWSERS: [who: string, accept: string][] = [
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['one with a preference', 'application/json;q=0.5, Text/HTML;q=0.9'],
]
for (const [who, accept] of BROWSERS) {
  test(`the address of a server leads a browser to the page: ${who}`, async () => {
    const { statusCode, headers } = await ask(accept)
    assert.deepEqual([statusCode, headers.location, headers.vary], [302, '/ui', 'accept'])
    assert.equal((await ask(accept, 'HEAD')).statusCode, 302)
  })
}

const PROGRAMS: [who: string, accept: string | undefined][] = [
  ['curl', '*/*'],
  ['one that says nothing', undefined],
  ['one that wants JSON', 'application/json'],
  ['one that refuses HTML', 'text/html;q=0, application/json'],
  ['one that wants something like it', 'text/html-sandboxed'],
]
for (const [who, accept] of PROGRAMS) {
  test(`it shows a program where to look: ${who}`, async () => {
    const answer = await ask(accept)
    const { code, hint } = answer.json<{ code: string; hint: string }>()
    assert.deepEqual([answer.statusCode, code], [404, 'not_found'])
    assert.match(hint, /\/v1.+\/docs\/api.+\/ui/)
  })
}

test('the page is found with a trailing slash, and all of its files are served', async () => {
  const headers = { host: 'localhost' }
  const slash = await api.inject({ url: '/ui/', headers })
  assert.deepEqual([slash.statusCode, slash.headers.location], [302, '/ui'])
  const { body } = await api.inject({ url: '/ui', headers })
  const app = await api.inject({ url: '/ui/app.js', headers })
  const linked = [...body.matchAll(/(?:src|href)="(\/ui\/[^"]+)"/g)].map(
    ([, path]) => path as string,
  )
  const imported = [...app.body.matchAll(/from '\.\/([^']+)'/g)].map(([, name]) => `/ui/${name}`)
  assert.ok(imported.length > 0)
  for (const url of [...linked, ...imported]) {
    const file = await api.inject({ url, headers })
    assert.equal(file.statusCode, 200, url)
    assert.match(String(file.headers['content-security-policy']), /default-src 'none'/)
  }
})
