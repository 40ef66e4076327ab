import assert from 'node:assert/strict'
import { after, before, suite, test, type TestContext } from 'node:test'
import type { WireToken, WireWhy, WireWorker } from '../../src/core/wire/views.ts'
import type { WireRun } from '../../src/core/wire/runs.ts'
import { readProjects } from '../../src/main/worker/worker-projects.ts'
import { type OpenApi, openApi, ROOT_TOKEN } from '../api/open-api.ts'
import { openHome, type PunctualHome, type StartedCommand } from '../support/punctual-home.ts'
import { waitFor } from '../support/wait-for.ts'

const ACME = { 'punctual-project': 'acme' }

interface Environment {
  readonly api: OpenApi
  readonly home: PunctualHome
  /** Starts `punctual worker` and waits until it reports its projects. */
  work(
    t: TestContext,
    token: string,
    ...flags: string[]
  ): Promise<StartedCommand & { serves: string }>
  submit(project: string): Promise<string>
  end(id: string, project: string): Promise<WireRun>
  workersOf(project: string): Promise<string[]>
}

function environment(api: OpenApi, home: PunctualHome): Environment {
  return {
    api,
    home,
    async work(t, token, ...flags) {
      const worker = home.start(['worker', '--server', api.url, '--token', token, ...flags])
      t.after(async () => {
        worker.child.kill('SIGTERM')
        await worker.ended
      })
      const serves = await waitFor(
        () => {
          if (worker.child.exitCode !== null) throw new Error(worker.output.err)
          return /and serves (.*)\n/.exec(worker.output.out)?.[1]
        },
        { what: 'the worker to connect', deadlineMs: 60_000 },
      )
      return { ...worker, serves }
    },
    async submit(project) {
      const { status, body } = await api.call<{ id: string }>('POST', '/v1/runs', {
        body: { run: 'true' },
        headers: { 'punctual-project': project },
      })
      assert.equal(status, 201, JSON.stringify(body))
      return body.id
    },
    end: (id, project) =>
      waitFor(
        async () => {
          const headers = { 'punctual-project': project }
          const { body } = await api.call<WireRun>('GET', `/v1/runs/${id}?wait=5s`, { headers })
          return body.finished_at === null ? undefined : body
        },
        { what: `${id} to end`, deadlineMs: 60_000 },
      ),
    async workersOf(project) {
      const headers = { 'punctual-project': project }
      const { body } = await api.call<{ data: WireWorker[] }>('GET', '/v1/workers', { headers })
      return body.data.map(({ name }) => name)
    },
  }
}

suite('the projects of `punctual worker`', () => {
  let set: Environment
  const cleanups: (() => unknown)[] = []
  before(async () => {
    // The shared server outlives these tests.
    const context = {
      after: (end: () => unknown) => void cleanups.unshift(end),
      diagnostic: () => {},
    } as unknown as TestContext
    set = environment(await openApi(context), openHome(context))
    // A project exists once something is in it.
    for (const project of ['acme', 'shop']) await set.submit(project)
  })
  after(async () => {
    for (const end of cleanups) await end()
  })

  test('with a token of the installation a worker serves all projects, so a payload of /submit runs in any of them', async (t) => {
    const { api, work, end } = set
    const made = await api.call<{ token: string }>('POST', '/v1/tokens', {
      body: { name: 'fleet', role: 'worker', everywhere: true },
    })
    const submitted = await api.call<{ job_id: string }>('POST', '/submit', {
      body: { project_id: 'acme', payload: 'echo hello', cron_schedule: null },
      headers: { 'x-user-id': 'ada' },
    })
    assert.equal(submitted.status, 201, JSON.stringify(submitted.body))
    const { serves } = await work(t, made.body.token)
    assert.equal(serves, 'all projects')
    const query = { headers: { ...ACME, 'x-user-id': 'ada' } }
    const status = await waitFor(
      async () => {
        const path = `/job?id=${submitted.body.job_id}`
        const { body } = await api.call<{ status: string }>('GET', path, query)
        return /succ/i.test(JSON.stringify(body)) ? 'ran' : undefined
      },
      { what: 'the payload to run', deadlineMs: 60_000 },
    )
    assert.equal(status, 'ran')
    for (const project of ['default', 'shop']) {
      const run = await end(await set.submit(project), project)
      assert.equal(run.state, 'succeeded')
    }
  })

  test('--project names some of them, or all, and excludes the others', async (t) => {
    const { work, workersOf, end, submit } = set
    const some = await work(t, ROOT_TOKEN, '--project', 'acme,shop', '--name', 'some')
    assert.equal(some.serves, 'the projects acme, shop')
    const shown = await Promise.all(['acme', 'shop', 'default'].map(workersOf))
    assert.deepEqual(
      shown.map((names) => names.includes('some')),
      [true, true, false],
    )
    assert.equal((await end(await submit('shop'), 'shop')).worker, 'some')
    const all = await work(t, ROOT_TOKEN, '--project', 'all', '--name', 'every')
    assert.equal(all.serves, 'all projects')
    assert.ok((await workersOf('default')).includes('every'))
    const wrong = await set.home.run(['worker', '--server', set.api.url, '--project', 'a b,c'], {
      PUNCTUAL_TOKEN: ROOT_TOKEN,
    })
    assert.deepEqual([wrong.code, /--project has "a b"/.test(wrong.err)], [2, true])
  })

  test('all together with other projects is refused: it would be a project name', () => {
    assert.throws(
      () => readProjects('acme,all'),
      /--project has "all" together with other projects/,
    )
    assert.deepEqual(readProjects('all'), [])
  })

  test('a token of one project serves that one, and asking for more is refused', async (t) => {
    const { api, work, workersOf } = set
    const token = await api.token('worker', 'acme')
    const { serves } = await work(t, token, '--name', 'bound')
    assert.equal(serves, 'the project of its token')
    const shown = await Promise.all(['acme', 'shop', 'default'].map(workersOf))
    assert.deepEqual(
      shown.map((names) => names.includes('bound')),
      [true, false, false],
    )
    for (const projects of ['all', 'shop', 'acme,shop', 'shop,acme']) {
      const args = ['worker', '--server', api.url, '--token', token, '--project', projects]
      const refused = await set.home.run(args)
      assert.equal(refused.code, 7, `${projects}: ${refused.err}`)
    }
  })

  test('the fix from `why` for a run of another project works', async (t) => {
    const { api, home, submit, end } = set
    const id = await submit('acme')
    const asked = await home.run(['why', id, '--project', 'acme', '--server', api.url], {
      PUNCTUAL_TOKEN: ROOT_TOKEN,
    })
    const [, fix = ''] = /fix: +punctual (worker .*)/.exec(asked.out) ?? []
    assert.equal(fix, `worker --server ${api.url} --project acme`)
    const { body } = await api.call<WireWhy>('GET', `/v1/runs/${id}/why`, { headers: ACME })
    assert.deepEqual(body.fixes, ['punctual worker --server URL --project acme'])
    const worker = home.start(fix.split(' '), { PUNCTUAL_TOKEN: ROOT_TOKEN })
    t.after(async () => {
      worker.child.kill('SIGTERM')
      await worker.ended
    })
    assert.equal((await end(id, 'acme')).state, 'succeeded')
  })

  test('token ls lists tokens of every project and of the installation, as far as the caller may see them', async () => {
    const { api, home } = set
    const json = async (token: string, ...flags: string[]) => {
      const args = ['token', 'ls', '--server', api.url, '-o', 'json', ...flags]
      const { out, err, code } = await home.run(args, { PUNCTUAL_TOKEN: token })
      assert.equal(code, 0, err)
      return (JSON.parse(out) as WireToken[]).map(({ project }) => project)
    }
    const admin = await api.token('admin', 'shop')
    const all = await json(ROOT_TOKEN)
    assert.ok(all.includes(null) && all.includes('acme') && all.includes('shop'))
    assert.deepEqual([...new Set(await json(ROOT_TOKEN, '--project', 'acme'))], ['acme'])
    assert.deepEqual(await json(admin), ['shop'])
    const { out } = await home.run(['token', 'ls', '--server', api.url], {
      PUNCTUAL_TOKEN: ROOT_TOKEN,
    })
    assert.match(out, /PROJECT[^]*fleet +worker +everywhere/)
  })
})
