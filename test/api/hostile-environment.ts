import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Agent, request } from 'node:http'
import { waitFor } from '../support/wait-for.ts'
import { ROOT_TOKEN } from './open-api.ts'

/** A server under attack, observed only from outside. */
export interface HostileEnvironment {
  readonly url: string
  readonly port: number
  /** A call of a well-behaved client, on its own connection. */
  call(method: string, path: string, body?: object): Promise<{ status: number; body: never }>
  /** Opens a connection and records what comes back. Never closes its end by itself. */
  connect(): HostileClient
  /** Number of files and sockets the server has open. */
  openFiles(): number
  /** Megabytes of memory in use. */
  residentMb(): number
  stop(): Promise<void>
}

export interface HostileClient {
  readonly socket: Socket
  readonly received: () => string
  /** Whether the server has closed or reset the connection. */
  readonly isOver: () => boolean
}

export async function openHostileEnvironment(): Promise<HostileEnvironment> {
  const dir = mkdtempSync(join(tmpdir(), 'punctual-hostile-'))
  const program = join(import.meta.dirname, 'hostile-server.ts')
  const child = spawn(process.execPath, [program, join(dir, 'p.db')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const port = Number(new URL(url).port)
  const proc = (name: string) => `/proc/${child.pid}/${name}`

  return {
    url,
    port,
    call: (method, path, body) => callOnce(url, method, path, body),
    connect() {
      let received = ''
      let isOver = false
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      socket.setNoDelay(true)
      socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
      for (const event of ['end', 'error', 'close']) socket.on(event, () => (isOver = true))
      return { socket, received: () => received, isOver: () => isOver }
    },
    openFiles: () => readdirSync(proc('fd')).length,
    residentMb: () =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(proc('status'), 'utf8'))?.[1]) / 1024,
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const isGone = () => child.exitCode !== null || child.signalCode !== null
      await waitFor(isGone, { what: 'the server to stop' }).catch(() => child.kill('SIGKILL'))
      await exited
      rmSync(dir, { recursive: true, force: true })
      assert.equal(child.exitCode, 0, 'it stopped in good order')
    },
  }
}

function callOnce(url: string, method: string, path: string, body?: object) {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  return new Promise<{ status: number; body: never }>((resolve, reject) => {
    const sent = request(
      url + path,
      {
        method,
        agent: new Agent({ keepAlive: false }),
        headers: {
          authorization: `Bearer ${ROOT_TOKEN}`,
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (chunk: string) => (text += chunk))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            body: (text === '' ? {} : JSON.parse(text)) as never,
          }),
        )
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(payload)
  })
}
