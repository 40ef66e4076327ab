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
  test(`${address} lives in ${neighbourhood}`, () => {
    assert.equal(neighbourhoodOf(address), neighbourhood)
  })
}

/** A server that says hello to everyone it lets in. */
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
  const comeFrom = async (localAddress: string) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    sockets.push(socket)
    socket.on('error', () => {})
    const isIn = await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ])
    return { socket, isIn }
  }
  return { server, comeFrom }
}

test('one address gets its share and no more, others still get in', async (t) => {
  const { comeFrom } = await open(t, { most: 100, mostPerAddress: 2, reserved: 0 })
  const first = await comeFrom('127.0.0.1')
  assert.deepEqual([first.isIn, (await comeFrom('127.0.0.1')).isIn], [true, true])
  assert.equal((await comeFrom('127.0.0.1')).isIn, false)
  assert.equal((await comeFrom('127.0.0.2')).isIn, true)
})

test('whoever leaves makes room', async (t) => {
  const { server, comeFrom } = await open(t, { most: 100, mostPerAddress: 1, reserved: 0 })
  const first = await comeFrom('127.0.0.1')
  assert.equal((await comeFrom('127.0.0.1')).isIn, false)
  first.socket.destroy()
  const isEmpty = () =>
    new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count === 0)))
  await waitFor(isEmpty, { what: 'the first to be gone' })
  assert.equal((await comeFrom('127.0.0.1')).isIn, true)
})

test('when the server is full, some places are left for its own machine', async (t) => {
  const { comeFrom } = await open(t, { most: 2, mostPerAddress: 100, reserved: 1 })
  const isIn = []
  for (let count = 0; count < 4; count += 1) isIn.push((await comeFrom('127.0.0.1')).isIn)
  assert.deepEqual(isIn, [true, true, true, false])
})
