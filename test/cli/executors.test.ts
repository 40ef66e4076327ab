// HTTP requests and containers, from the command line to a real worker process and back.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openSink } from '../../src/outbound/sink.fixture.ts'
import { findSecretDirectory } from '../../src/worker/executors/files/secret-directory.ts'
import { openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { ENGINE_ARGS, IMAGE, openPodman, RUN_ARGS, skipWithoutPodman } from '../support/podman.ts'
import { openHome } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const LEASE_TTL_MS = 10_000

async function setUp(t: TestContext, ...flags: string[]) {
  const home = openHome(t)
  // A normal lease: what a frozen worker leaves behind ends with it.
  const api = await openApi(t, { config: { leaseTtlMs: LEASE_TTL_MS } })
  const access = ['--server', api.url, '--token', ROOT_TOKEN]
  const worker = home.start(['worker', ...access, '--name', 'w', ...flags])
  await waitFor(() => worker.output.out.includes('is connected'), {
    what: 'the worker',
    deadlineMs: 60_000,
  })
  return { ...home, api, worker, access }
}

test('a worker sends a request, within the limits of its operator', async (t) => {
  const sink = await openSink(t, (request, response) => {
    response.writeHead(request.headers['x-key'] === 'k' ? 200 : 403).end('hello\n')
  })
  const { run, access, api } = await setUp(t, '--executors', 'http', '--allow-address', sink.allow)
  const send = (...words: string[]) => run(['run', ...access, '--http', ...words, '--wait'])
  const good = await send(`${sink.url}/a`, '--header', 'X-Key: k', '--body', 'hi')
  assert.equal(good.code, 0)
  assert.match(good.out, /hello\n/)
  assert.equal(sink.requests[0]?.method, 'POST')
  const bad = await send(`${sink.url}/b`)
  assert.equal(bad.code, 3)
  assert.match(bad.err, /answered 403, expected 200-299/)
  const inner = await send('http://169.254.169.254/')
  assert.equal(inner.code, 3)
  assert.match(inner.err, /leads to a link-local address, which is not called/)
  const { body } = await api.call<{ data: { executors: string[] }[] }>('GET', '/v1/workers')
  assert.deepEqual(
    body.data.map(({ executors }) => executors),
    [['http']],
  )
})

test('a worker with unusable settings does not start', async (t) => {
  const { run } = openHome(t)
  const start = (...flags: string[]) =>
    run(['worker', '--server', 'http://127.0.0.1:1', '--token', 'x', ...flags])
  for (const [flags, says] of [
    [['--executors', 'shell,magic'], /executors: has "magic", and not one of shell, argv/],
    [['--allow-address', '10.0.0.0/33'], /allow-address: 10\.0\.0\.0\/33 is none of/],
    [['--allow-mount', 'data'], /allow-mount: data is not an absolute path/],
    [
      ['--allow-mount', '/no', '--allow-mount', '/no/x:ro'],
      /allow-mount: .* \/no\/x:ro through \/no,/,
    ],
    [['--container-engine', '/no/such'], /container-engine: \/no\/such does not work here/],
  ] as const) {
    const { code, err } = await start(...flags)
    assert.equal(code, 78, err)
    assert.match(err, says)
  }
})

test('flags that exclude each other are refused', async (t) => {
  const { run } = openHome(t)
  for (const [words, says] of [
    [['--http', 'http://a/', '--', 'true'], /--http cannot be combined with a command/],
    [['--http', 'http://a/', '--image', 'x'], /--http cannot be combined with a command/],
    [['nightly', '--image', 'x'], /--image is for a command/],
    [['nightly', '--body', 'x'], /--body requires --http/],
    [['--http', 'http://a/', '--header', 'x'], /"x" is not NAME: VALUE/],
  ] as const) {
    const { code, err } = await run(['run', '--server', 'http://127.0.0.1:1', ...words])
    assert.equal(code, 2, err)
    assert.match(err, says)
  }
})

/** Secret files of a run on this machine. */
function secretFilesOf(run: string): string[] {
  const { path } = findSecretDirectory()
  const rooms = readdirSync(path).filter((name) => name.startsWith('punctual-worker-'))
  return rooms
    .flatMap((workDir) => listed(join(path, workDir)).map((name) => join(workDir, name)))
    .filter((file) => file.includes(`/${run}.`))
}

/** Directories of other workers appear and disappear meanwhile. */
function listed(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : []
}

test(
  'a container and its secrets end with their worker, however that ends',
  { skip: skipWithoutPodman },
  async (t) => {
    const podman = openPodman()
    t.after(() => podman.close())
    const flags = [
      '--executors',
      'container,shell',
      '--container-engine',
      'podman',
      ...ENGINE_ARGS.map((word) => `--engine-arg=${word}`),
      ...[...RUN_ARGS, '--network', 'none'].map((word) => `--container-arg=${word}`),
    ]
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const { run, worker, access, api } = await setUp(t, ...flags)
      const hi = await run([
        'exec',
        ...access,
        '--image',
        IMAGE,
        '--',
        '/bin/sh',
        '-c',
        'echo hi; exit 4',
      ])
      assert.deepEqual([hi.code, hi.out], [4, 'hi\n'], hi.err)
      const secret = { body: { value: 'a key of many letters' } }
      assert.ok((await api.call('PUT', '/v1/secrets/KEY', secret)).status < 300)
      const command = ['/bin/sh', '-c', 'cat "$KEY_FILE" > /dev/null && echo open; sleep 1000']
      const started = await api.call<{ id: string }>('POST', '/v1/runs', {
        body: {
          container: { image: IMAGE, command },
          secrets: [{ name: 'KEY', as: 'file' }],
        },
      })
      assert.equal(started.status, 201, JSON.stringify(started.body))
      const { id } = started.body
      const isUp = () => podman.ask('ps', '--quiet', '--filter', 'status=running') !== ''
      await waitFor(isUp, { what: 'the container to be up', deadlineMs: 60_000 })
      const printed = async () => (await run(['logs', ...access, id])).out.includes('open')
      await waitFor(printed, { what: 'the secret to be read in the container', deadlineMs: 60_000 })
      assert.match(secretFilesOf(id).join(), /\.secret\.KEY/)
      worker.child.kill(signal)
      await waitFor(() => podman.names().length === 0, {
        what: `the container to be gone after ${signal}`,
        deadlineMs: 60_000,
        intervalMs: 200,
      })
      await waitFor(() => secretFilesOf(id).length === 0, {
        what: `the files of its secrets to be gone after ${signal}`,
        deadlineMs: 60_000,
      })
      worker.child.kill('SIGKILL')
      // Its launcher and its janitor share its standard error: this waits for them too.
      await worker.ended
    }
  },
)
