import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { BIN, openHome, type StartedCommand } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

interface LogLine {
  readonly time: string
  readonly level: string
  readonly msg: string
  readonly url?: string
  readonly worker?: string
  readonly hint?: string
  readonly error?: { code: string; message: string }
}

/** Every complete line of both streams; a line that is not JSON throws. */
function records({ output }: Pick<StartedCommand, 'output'>): LogLine[] {
  const whole = (text: string) => text.slice(0, text.lastIndexOf('\n') + 1)
  const lines = (whole(output.out) + whole(output.err)).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as LogLine)
}

async function recordOf(started: StartedCommand, msg: string): Promise<LogLine> {
  return waitFor(() => records(started).find((record) => record.msg === msg), {
    what: `the record "${msg}"`,
  })
}

test('with --log-format json, all output of a server and a worker is JSON, from start to end', async (t) => {
  const home = openHome(t)
  const json = ['--log-format', 'json']
  const server = home.start(['server', '--port', '0', '--data', home.dataDir, ...json])
  const { url = '', level } = await recordOf(server, 'the server is ready')
  assert.equal(level, 'info')
  const env = {
    PUNCTUAL_TOKEN: readFileSync(join(home.dataDir, 'admin-token'), 'utf8').trim(),
    PUNCTUAL_LOG_FORMAT: 'json',
  }
  const worker = home.start(['worker', '--server', url], env)
  const connected = await recordOf(worker, 'the worker is connected')
  assert.match(connected.worker ?? '', /^wrk_/)
  for (const started of [worker, server]) {
    started.child.kill('SIGTERM')
    assert.equal(await started.ended, 0)
    assert.ok(records(started).some(({ msg }) => msg.startsWith('SIGTERM, stopping')))
    for (const { time } of records(started)) assert.ok(Date.parse(time) > 0, time)
    assert.ok(!(started.output.out + started.output.err).includes(env.PUNCTUAL_TOKEN), 'no token')
  }
})

test('with --log-format json, a server that does not start gives the reason in a record', async (t) => {
  const home = openHome(t)
  const flags = ['--data', home.dataDir, '--port', 'none', '--log-format=json']
  const done = await home.run(['server', ...flags])
  assert.equal(done.code, 78)
  const [record, ...more] = records({ output: done })
  assert.deepEqual(more, [])
  assert.equal(record?.error?.code, 'config_invalid')
  assert.match(record?.error?.message ?? '', /port "none" is not a port/)
})

test('a server whose log cannot be written continues', async (t) => {
  const home = openHome(t)
  const args = ['server', '--port', '0', '--data', home.dataDir]
  const onFullDisk = ['-c', 'exec "$0" "$@" 2>/dev/full', process.execPath, BIN, ...args]
  const child = spawn('/bin/sh', onFullDisk, {
    cwd: home.dir,
    env: home.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  home.atEnd(() => void child.kill('SIGKILL'))
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const ended = once(child, 'close')
  await waitFor(() => out.includes('Try:'), { what: 'the server to be up' })
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})
