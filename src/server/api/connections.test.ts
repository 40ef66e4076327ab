import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import { limitConnections, neighbourhoodOf } from './http/connections.ts'

const neighbours: [address: string, neighbourhood: string][] = [
  ['127.0.0.1', '127.0.0.1'],
  ['203.0.113.9', '203.0.113.9'],
  ['::ffff:203.0.113.9', '203.0.113.9'],
  ['::1', '::1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::'],
  ['2001:db8:1:2::9', '2001:db8:1:2::'],
  ['2001:db8::9', '2001:db8:0:0::'],
  ['fe80::1%eth0', 'fe80:0:0:0::'],
]
for (const [address, neighbourhood] of neighbours) {
  test(`${address} is counted as ${neighbourhood}`, () => {
    assert.equal(neighbourhoodOf(address), neighbourhood)
  })
}

/** A server that greets every accepted connection. */
async function open(t: TestContext, limits: Parameters<typeof limitConnections>[1]) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    if (!socket.destroyed) socket.write('hello')
  })
  limitConnections(server, limits)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const connectFrom = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    const isIn = await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ])
    return { socket, isIn }
  }
  return { server, connectFrom }
}

test('one address gets its share and no more, others still get in', async (t) => {
  const { connectFrom } = await open(t, { most: 100, mostPerAddress: 2, reserved: 0 })
  const first = await connectFrom('127.0.0.1')
  assert.deepEqual([first.isIn, (await connectFrom('127.0.0.1')).isIn], [true, true])
  assert.equal((await connectFrom('127.0.0.1')).isIn, false)
  assert.equal((await connectFrom('127.0.0.2')).isIn, true)
})

test('a closed connection makes room for another', async (t) => {
  const { server, connectFrom } = await open(t, { most: 100, mostPerAddress: 1, reserved: 0 })
  const first = await connectFrom('127.0.0.1')
  assert.equal((await connectFrom('127.0.0.1')).isIn, false)
  first.socket.destroy()
  const isEmpty = () =>
    new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count === 0)))
  await waitFor(isEmpty, { what: 'the first to be gone' })
  assert.equal((await connectFrom('127.0.0.1')).isIn, true)
})

test('when the server is full, some connections are reserved for its own machine', async (t) => {
  const { connectFrom } = await open(t, { most: 2, mostPerAddress: 100, reserved: 1 })
  const isIn = []
  for (let count = 0; count < 4; count += 1) isIn.push((await connectFrom('127.0.0.1')).isIn)
  assert.deepEqual(isIn, [true, true, true, false])
})
