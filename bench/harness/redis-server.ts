import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from '../../test/support/free-port.ts'
import { waitFor } from '../../test/support/wait-for.ts'

/** Its everyday durability: what it has acknowledged is on disk a second later. */
export const REDIS_DURABILITY = { appendonly: 'yes', appendfsync: 'everysec' } as const

export interface RedisServer {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

const PORT_TRIES = 5

/** A private server on a random loopback port, with its files in that directory. */
export async function startRedis(directory: string): Promise<RedisServer> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const child = launch(port, directory)
    const isUp = await waitFor(async () => hasExited(child) || (await answers(port)), {
      what: `Redis on port ${port}`,
    }).then(() => !hasExited(child))
    if (isUp) {
      return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: () => end(child) }
    }
    if (tries === PORT_TRIES) throw new Error('redis-server ended while starting')
  }
}

function launch(port: number, directory: string): ChildProcess {
  const place = { port, bind: '127.0.0.1', dir: directory, daemonize: 'no', loglevel: 'warning' }
  const settings = { ...place, ...REDIS_DURABILITY, save: '' }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  return spawn('redis-server', flags, { stdio: ['ignore', 'ignore', 2] })
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.toString() === '+PONG\r\n'
  } finally {
    socket.destroy()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
