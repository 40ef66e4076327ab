import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCertificate, skipWithoutOpenssl } from '../../test/support/certificate.ts'
import { createVirtualClock } from '../../test/support/virtual-clock.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { systemClock } from '../worker/clock/system-clock.ts'
import { parseAllowList } from './allow-list.ts'
import type { Resolve } from './guarded-connector.ts'
import { createOutbound } from './outbound.ts'
import { openSink } from './sink.fixture.ts'

const create = (allow: string[], resolve?: Resolve) =>
  createOutbound({ clock: systemClock, allow: parseAllowList(allow), resolve })

test('allowed destinations are called, by address and by name', async (t) => {
  const sink = await openSink(t)
  const outbound = create([sink.allow], async () => ['10.0.0.1', '127.0.0.1'])
  for (const host of ['127.0.0.1', '127.1', '[::ffff:7f00:1]', 'inner.example']) {
    const url = `http://${host}:${sink.port}/a?b=c#d`
    const answer = await outbound.send({ url, method: 'POST', headers: { 'X-A': 'b' }, body: 'hi' })
    assert.equal(answer.status, 200)
    assert.equal(answer.body.toString(), 'hello')
    assert.equal(answer.truncated, false)
  }
  const { method, url, headers } = sink.requests.at(-1) ?? assert.fail('no request')
  assert.deepEqual([method, url], ['POST', '/a?b=c'])
  assert.equal(headers.host, `inner.example:${sink.port}`)
  assert.equal(headers['x-a'], 'b')
  assert.equal(headers['user-agent'], 'punctual')
  await assert.rejects(outbound.send({ url: `http://127.0.0.2:${sink.port}/` }), {
    code: 'address_refused',
  })
})

test('an allowed name may resolve to any address, other names may not', async (t) => {
  const sink = await openSink(t)
  const outbound = create(['inner.example'], async () => ['127.0.0.1'])
  const { status } = await outbound.send({ url: `http://inner.example:${sink.port}/` })
  assert.equal(status, 200)
  await assert.rejects(outbound.send({ url: `http://other.example:${sink.port}/` }), {
    code: 'address_refused',
    message: /^other\.example leads to a loopback address/,
  })
})

test('a name is resolved once: the checked address is the one that is dialled', async (t) => {
  const good = await openSink(t)
  const answers = ['127.0.0.1', '127.0.0.2', '10.0.0.1']
  let asked = 0
  const rebinding = create([good.allow], async () => [answers[asked++] ?? '10.0.0.1'])
  const answer = await rebinding.send({ url: `http://rebinding.example:${good.port}/` })
  assert.equal(answer.status, 200)
  assert.equal(asked, 1)
  await assert.rejects(rebinding.send({ url: `http://rebinding.example:${good.port}/` }), {
    code: 'address_refused',
  })
  assert.equal(good.connections(), 1)
})

const TARGETS: [why: string, location: string][] = [
  ['a loopback address', 'http://127.0.0.2:SINK/'],
  ['metadata', 'http://169.254.169.254/latest/'],
  ['a decimal address', 'http://2130706434:SINK/'],
  ['another port of an allowed host', 'http://127.0.0.1:1/'],
  ['a file', 'file:///etc/passwd'],
  ['a user name', 'http://user@127.0.0.1:SINK/'],
  ['nonsense', 'http://[::1'],
]
for (const [why, location] of TARGETS) {
  test(`a redirect to ${why} is not followed`, async (t) => {
    const inner = await openSink(t, undefined, '127.0.0.2')
    const outer = await openSink(t, (_request, response) => {
      response.writeHead(302, { location: location.replace('SINK', String(inner.port)) }).end()
    })
    await assert.rejects(create([outer.allow]).send({ url: outer.url }), { isRefusal: true })
    assert.equal(inner.connections(), 0)
  })
}

test('a name that resolved to a public address cannot lead inside after a redirect', async (t) => {
  const sink = await openSink(t, (_request, response) => {
    response.writeHead(302, { location: '/again' }).end()
  })
  const answers = ['127.0.0.1']
  const outbound = create([sink.allow], async () => [answers.pop() ?? '127.0.0.2'])
  await assert.rejects(outbound.send({ url: `http://rebinding.example:${sink.port}/` }), {
    code: 'address_refused',
  })
  assert.equal(sink.connections(), 1)
})

test('three redirects are followed, a fourth is not, and none if the request allows none', async (t) => {
  const sink = await openSink(t, ({ url }, response) => {
    const left = Number(url?.slice(1))
    if (left === 0) return response.end('there')
    return response.writeHead(302, { location: `/${left - 1}` }).end('not yet')
  })
  const outbound = create([sink.allow])
  const answer = await outbound.send({ url: `${sink.url}/3` })
  assert.equal(answer.body.toString(), 'there')
  assert.equal(answer.finalUrl, `${sink.url}/0`)
  await assert.rejects(outbound.send({ url: `${sink.url}/4` }), { code: 'redirect_refused' })
  const { status, body } = await outbound.send({ url: `${sink.url}/3`, maxRedirects: 0 })
  assert.deepEqual([status, body.toString()], [302, 'not yet'])
})

test('credentials for one origin are not sent to another', async (t) => {
  const other = await openSink(t)
  const first = await openSink(t, ({ url }, response) => {
    const location = url === '/away' ? other.url : '/away'
    response.writeHead(307, { location }).end()
  })
  const headers = {
    Authorization: 'Bearer x',
    Cookie: 'a=b',
    'X-Api-Key': 'secret',
    'Content-Type': 'text/plain',
  }
  const outbound = create([first.allow, other.allow])
  await outbound.send({ url: first.url, method: 'PUT', headers })
  assert.equal(first.requests[1]?.headers.authorization, 'Bearer x')
  assert.equal(first.requests[1]?.headers['x-api-key'], 'secret')
  const { method, headers: seen } = other.requests[0] ?? assert.fail('not followed')
  assert.equal(method, 'PUT')
  assert.equal(seen['content-type'], 'text/plain')
  for (const name of ['authorization', 'cookie', 'x-api-key']) assert.equal(seen[name], undefined)
})

for (const status of [301, 302, 307, 308]) {
  test(`a body follows a redirect (${status}) within its origin, and to no other`, async (t) => {
    const bodies: string[] = []
    const other = await openSink(t, (request, response) => {
      request.on('data', (some) => bodies.push(`other: ${some}`)).on('end', () => response.end())
    })
    const first = await openSink(t, (request, response) => {
      const location = request.url === '/away' ? other.url : '/away'
      request.on('data', (some) => bodies.push(`${request.url}: ${some}`))
      request.on('end', () => response.writeHead(status, { location }).end())
    })
    const outbound = create([first.allow, other.allow])
    const request = { url: first.url, method: 'PUT', body: 'hi' }
    await assert.rejects(outbound.send(request), {
      code: 'redirect_refused',
      message: /redirects to .*, where the body of the request is not sent/,
    })
    assert.deepEqual(bodies, ['/: hi', '/away: hi'])
    assert.equal(other.connections(), 0)
  })
}

test('a POST that is redirected with 303 becomes a GET without a body', async (t) => {
  const sink = await openSink(t, ({ url }, response) => {
    if (url === '/') return response.writeHead(303, { location: '/seen' }).end()
    return response.end()
  })
  const headers = { 'Content-Type': 'text/plain' }
  await create([sink.allow]).send({ url: sink.url, method: 'POST', headers, body: 'hi' })
  const { method, headers: seen } = sink.requests[1] ?? assert.fail('not followed')
  assert.equal(method, 'GET')
  assert.equal(seen['content-type'], undefined)
  assert.equal(seen['content-length'], undefined)
})

test('an endless answer is cut off, and its connection closed', async (t) => {
  let isClosed = false
  const sink = await openSink(t, (_request, response) => {
    const pour = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
    }
    response.on('drain', pour).on('close', () => (isClosed = true))
    pour()
  })
  const answer = await create([sink.allow]).send({ url: sink.url, maxResponseBytes: 100_000 })
  assert.equal(answer.body.length, 100_000)
  assert.equal(answer.truncated, true)
  await waitFor(() => isClosed, { what: 'the connection to close' })
})

test('an answer of exactly the limit is complete', async (t) => {
  const sink = await openSink(t)
  const answer = await create([sink.allow]).send({ url: sink.url, maxResponseBytes: 5 })
  assert.deepEqual([answer.body.toString(), answer.truncated], ['hello', false])
})

test('the timeout covers the lookup, the wait for the answer, and its body', async (t) => {
  const silent = await openSink(t, () => {})
  const slow = await openSink(t, (_request, response) => void response.write('begin'))
  const never: Resolve = () => new Promise(() => {})
  const rows: [url: string, resolve: Resolve | undefined, isThere: () => boolean][] = [
    [silent.url, undefined, () => silent.requests.length === 1],
    [slow.url, undefined, () => slow.requests.length === 1],
    ['http://never.example/', never, () => true],
  ]
  for (const [url, resolve, isThere] of rows) {
    const clock = createVirtualClock()
    const allow = parseAllowList([silent.allow, slow.allow])
    const sent = createOutbound({ clock, allow, resolve }).send({ url, timeoutMs: 1_000 })
    const refused = assert.rejects(sent, { code: 'timed_out', message: 'no answer within 1 s' })
    await waitFor(isThere, { what: 'the request' })
    await clock.advance(1_000)
    await refused
    assert.equal(clock.sleeping(), 0)
  }
})

test('an aborted request ends at once, and leaves no timer behind', async (t) => {
  const sink = await openSink(t, () => {})
  const clock = createVirtualClock()
  const stop = new AbortController()
  const outbound = createOutbound({ clock, allow: parseAllowList([sink.allow]) })
  const sent = outbound.send({ url: sink.url, signal: stop.signal })
  const refused = assert.rejects(sent, { code: 'aborted' })
  await waitFor(() => sink.requests.length === 1, { what: 'the request' })
  stop.abort()
  await refused
  await assert.rejects(outbound.send({ url: sink.url, signal: stop.signal }), { code: 'aborted' })
  assert.equal(sink.requests.length, 1)
  assert.equal(clock.sleeping(), 0)
})

test('connection errors name their cause', async (t) => {
  const sink = await openSink(t, (request) => request.socket.destroy())
  const unknown: Resolve = () => Promise.reject(new Error('ENOTFOUND'))
  await assert.rejects(create([sink.allow]).send({ url: sink.url }), { code: 'unreachable' })
  await assert.rejects(create([], unknown).send({ url: 'http://x.example/' }), {
    code: 'name_unknown',
    message: 'x.example cannot be looked up',
  })
  await assert.rejects(create([], async () => []).send({ url: 'http://x.example/' }), {
    message: 'x.example has no address',
  })
})

test(
  'a certificate is checked against the name, not the address',
  { skip: skipWithoutOpenssl },
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'punctual-outbound-'))
    t.after(() => rmSync(dir, { recursive: true, force: true }))
    const paths = makeCertificate(dir, 'server', 'DNS:secure.example')
    const cert = readFileSync(paths.cert, 'utf8')
    const server = createServer({ cert, key: readFileSync(paths.key) }, (_request, response) => {
      response.writeHead(302, { location: 'http://secure.example/' }).end()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const means = {
      clock: systemClock,
      allow: parseAllowList([`127.0.0.1:${port}`]),
      resolve: async () => ['127.0.0.1'],
    }
    const trusting = createOutbound({ ...means, ca: cert })
    const secure = { url: `https://secure.example:${port}/`, maxRedirects: 0 }
    assert.equal((await trusting.send(secure)).status, 302)
    await assert.rejects(createOutbound(means).send(secure), { code: 'unreachable' })
    await assert.rejects(trusting.send({ url: `https://other.example:${port}/` }), {
      code: 'unreachable',
    })
    await assert.rejects(trusting.send({ url: secure.url }), { code: 'redirect_refused' })
  },
)
