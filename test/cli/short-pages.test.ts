import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { runProgram } from '../../src/cli/program.ts'
import { publicId } from '../../src/core/ids.ts'
import { createFakeTerminal } from './fake-terminal.ts'

test('runs follows short or empty pages until it has enough', async (t) => {
  const run = (id: number) => ({ id: publicId('run', id) })
  const pages = [
    { data: [run(9)], next_cursor: 'MTo4' },
    { data: [], next_cursor: 'MTo1' },
    { data: [run(4), run(3)], next_cursor: 'MToz' },
  ]
  const asked: URLSearchParams[] = []
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://x').searchParams)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(pages[asked.length - 1]))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { PUNCTUAL_SERVER: url, PUNCTUAL_TOKEN: 'x' }
  const terminal = createFakeTerminal({ env, isInteractive: false, columns: 80 })
  const argv = ['--server', url, '--token', 'x', 'runs', 'worker:rare', '-n', '3', '-o', 'name']
  const code = await runProgram(argv, { terminal, version: '9.9.9', addServerCommands: () => {} })
  assert.equal(code, 0, terminal.written.err)
  assert.deepEqual(
    asked.map((query) => [query.get('limit'), query.get('cursor')]),
    [
      ['3', null],
      ['2', 'MTo4'],
      ['2', 'MTo1'],
    ],
  )
  assert.deepEqual(
    terminal.written.out.trim().split('\n'),
    [9, 4, 3].map((id) => publicId('run', id)),
  )
})
