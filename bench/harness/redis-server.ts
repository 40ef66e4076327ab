import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { freePort } from '../../test/support/free-port.ts'
import { waitFor } from '../../test/support/wait-for.ts'

/** Redis's usual durability settings: acknowledged writes reach the disk within a second. */
export const REDIS_DURABILITY = { appendonly: 'yes', appendfsync: 'everysec' } as const

export interface RedisServer {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

const PORT_TRIES = 5

/** Starts a private server on a free loopback port that keeps its files in the directory. */
export async function startRedis(directory: string): Promise<RedisServer> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    const child = launch(port, directory)
    const isUp = await waitFor(async () => hasExited(child) || (await answersPing(port)), {
      what: `Redis on port ${port}`,
    }).then(() => !hasExited(child))
    if (isUp) {
      return { url: `redis://127.0.0.1:${port}`, pid: child.pid!, stop: () => endProcess(child) }
    }
    if (tries === PORT_TRIES) throw new Error('redis-server ended while starting')
  }
}

function launch(port: number, directory: string): ChildProcess {
  const common = { daemonize: 'no', loglevel: 'warning' }
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: directory,
    ...common,
    ...REDIS_DURABILITY,
    save: '',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  return spawn('redis-server', flags, { stdio: ['ignore', 'ignore', 2] })
}

async function answersPing(port: number): Promise<boolean> {
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

async function endProcess(child: ChildProcess): Promise<void> {
  if (hasExited(child)) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
