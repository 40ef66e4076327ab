import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { freePort } from '../support/free-port.ts'
import { openHome } from '../support/punctual-home.ts'
import { postgresUrl } from '../support/servers.ts'
import { waitFor } from '../support/wait-for.ts'

test('a worker of two nodes continues with the second when the first stops, with the same admin token', async (t) => {
  const home = openHome(t)
  const store = await postgresUrl()
  const serve = async (name: string) => {
    const data = join(home.dir, name)
    const flags = ['--port', '0', '--data', data, '--store', store]
    const server = home.start(['server', ...flags])
    const url = await waitFor(
      () => {
        if (server.child.exitCode !== null) throw new Error(`it ended: ${server.output.err}`)
        return /address +(\S+)[^]*Try:/.exec(server.output.out)?.[1]
      },
      { what: `the server ${name}`, deadlineMs: 120_000 },
    )
    return { ...server, url, tokenFile: join(data, 'admin-token') }
  }
  const first = await serve('first')
  const second = await serve('second')
  assert.ok(
    first.output.out.includes(
      `token    ${first.tokenFile}, accepted by every node on this database`,
    ),
    first.output.out,
  )
  assert.match(second.output.out, /token {4}\S+second\/admin-token, accepted by this node alone\n/)
  assert.match(second.output.out, /put a copy of \S+:\S+first\/admin-token\n/)

  const token = readFileSync(first.tokenFile, 'utf8').trim()
  const both = { PUNCTUAL_SERVER: `${first.url},${second.url}`, PUNCTUAL_TOKEN: token }
  const flags = ['--server', first.url, '--server', second.url, '--token', token]
  const worker = home.start(['worker', '--name', 'w', ...flags])
  const go = join(home.dir, 'go')
  const script = `echo up; while [ ! -e '${go}' ]; do sleep 0.05; done`
  const submitted = await home.run(['run', '--', 'sh', '-c', script], both)
  const id = submitted.out.trim()
  assert.match(id, /^run_/, submitted.err)
  await waitFor(async () => (await home.run(['logs', id], both)).out === 'up\n', {
    what: 'the run to be under way',
    deadlineMs: 120_000,
  })
  first.child.kill('SIGTERM')
  await first.ended
  writeFileSync(go, '')
  const ended = await home.run(['wait', id, '-o', 'json'], both)
  assert.equal(ended.code, 0, ended.err)
  const { attempt } = JSON.parse(ended.out) as { attempt: number }
  assert.equal(attempt, 1, 'the run was not disturbed')
  const next = await home.run(['exec', '--', 'echo', 'two'], both)
  assert.deepEqual(next, { code: 0, out: 'two\n', err: '' }, worker.output.err)
})

test('a worker reads several addresses from the environment, and its labels as run does', async (t) => {
  const api = await openApi(t)
  const home = openHome(t)
  const gone = `http://127.0.0.1:${await freePort()}`
  const env = { PUNCTUAL_SERVER: `${gone}, ${api.url}`, PUNCTUAL_TOKEN: ROOT_TOKEN }
  const worker = home.start(['worker', '--label', 'gpu', '--label', 'disk=fast'], env)
  const flags = ['--label', 'gpu=true', '--label', 'disk=fast', '--timeout', '60s']
  const ran = await home.run(['exec', ...flags, '--', 'echo', 'here'], env)
  assert.deepEqual([ran.code, ran.out], [0, 'here\n'], `${ran.err}\n${worker.output.err}`)
  for (const label of ['gpu=', '=x', 'a b']) {
    const refused = [
      await home.run(['worker', '--label', label], env),
      await home.run(['run', '--label', label, '--', 'true'], env),
    ]
    for (const { code, err } of refused) {
      assert.deepEqual([code, err.split('\n')[0]], [2, `✖ --label: "${label}" is not a label`])
    }
  }
})
