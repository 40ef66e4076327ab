import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { ConnectionError, createFetchTransport } from './fetch-transport.ts'

async function serve(t: TestContext, listener: RequestListener) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url as string)
    listener(request, response)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  t.after(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, close }
}

const serveOk = (t: TestContext) => serve(t, (_request, response) => response.end('ok'))

async function serveNothing(t: TestContext) {
  const server = await serveOk(t)
  server.close()
  return server
}

test('while nothing listens at a server, requests go to the next one and stay there', async (t) => {
  const gone = await serveNothing(t)
  const there = await serveOk(t)
  const transport = createFetchTransport([gone.url, there.url])
  assert.equal(transport.url, gone.url)
  const answer = await transport.request('/a', { method: 'POST', body: 'x' })
  assert.deepEqual([await answer.text(), transport.url], ['ok', there.url])
  await (await transport.request('/b', {})).text()
  assert.deepEqual(there.paths, ['/a', '/b'])
})

test('requests that fail together move on together, not one server each', async (t) => {
  const gone = await serveNothing(t)
  const there = await serveOk(t)
  const transport = createFetchTransport([gone.url, there.url])
  const answers = await Promise.all(
    Array.from({ length: 4 }, async () => (await transport.request('/', {})).text()),
  )
  assert.deepEqual(answers, ['ok', 'ok', 'ok', 'ok'])
  assert.equal(transport.url, there.url)
})

test('when nothing listens at any server, the error names the last one', async (t) => {
  const [first, last] = [await serveNothing(t), await serveNothing(t)]
  const transport = createFetchTransport([first.url, last.url])
  await assert.rejects(transport.request('/', {}), (error: ConnectionError) => {
    assert.ok(error instanceof ConnectionError)
    assert.equal(error.url, last.url)
    assert.equal(((error.cause as Error).cause as NodeJS.ErrnoException).code, 'ECONNREFUSED')
    return true
  })
})

test('a request whose answer is lost is not sent to another server', async (t) => {
  const failing = await serve(t, (request) => request.socket.destroy())
  const there = await serveOk(t)
  const transport = createFetchTransport([failing.url, there.url])
  await assert.rejects(transport.request('/', { method: 'POST' }), { url: failing.url })
  assert.deepEqual([there.paths, transport.url], [[], failing.url])
})

test('errors of a server are answers, not failures', async (t) => {
  const stopping = await serve(t, (_request, response) => response.writeHead(503).end('{}'))
  const there = await serveOk(t)
  const transport = createFetchTransport([stopping.url, there.url])
  assert.equal((await transport.request('/', {})).status, 503)
  assert.deepEqual(there.paths, [])
})

test('an aborted request rejects with the reason of its caller, and is not repeated', async (t) => {
  const giveUp = new AbortController()
  const reason = new Error('given up')
  const silent = await serve(t, () => giveUp.abort(reason))
  const there = await serveOk(t)
  const transport = createFetchTransport([silent.url, there.url])
  await assert.rejects(transport.request('/', { signal: giveUp.signal }), reason)
  assert.deepEqual(there.paths, [])
})

test('a body arrives while the server is still writing it', async (t) => {
  const written = Promise.withResolvers<() => void>()
  const server = await serve(t, (_request, response) => {
    response.write('one')
    written.resolve(() => response.end('two'))
  })
  const answer = await createFetchTransport([server.url]).request('/', {})
  const end = await written.promise
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of answer.body as unknown as AsyncIterable<Uint8Array>) {
    if (text === '') end()
    text += decoder.decode(bytes)
  }
  assert.equal(text, 'onetwo')
})
