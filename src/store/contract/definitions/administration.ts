import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry, NewToken } from '../../port.ts'
import { only } from '../fixture.ts'
import { adoptInto } from '../sessions/session-binding.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

function note(world: StoreWorld, action: string, extra: Partial<AuditEntry> = {}): AuditEntry {
  const defaults = {
    actor: null,
    target: 'x',
    detail: null,
    request: 'req_1',
    address: '127.0.0.1',
  }
  return { projectId: world.project, action, ...defaults, ...extra }
}

async function actions(world: StoreWorld): Promise<string[]> {
  const entries = await world.store.listAudit({
    projectId: world.project,
    before: Number.MAX_SAFE_INTEGER,
    limit: 50,
  })
  return entries.map(({ action }) => action)
}

const NEVER = Number.MAX_SAFE_INTEGER
let serial = 0

function newToken(
  world: StoreWorld,
  extra: Partial<NewToken> = {},
): NewToken & { audit: AuditEntry } {
  serial += 1
  return {
    projectId: world.project,
    name: 'ci',
    role: 'operator',
    hash: `hash ${world.project} ${serial}`,
    ending: 'x7q2',
    expiresAt: null,
    createdBy: null,
    audit: note(world, 'token.create'),
    ...extra,
  }
}

export function definitionsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const put = (world: StoreWorld, definition: string, expect: number | null = null) =>
    world.store.putJob({
      projectId: world.project,
      name: 'etl',
      definition,
      expect,
      audit: note(world, 'job.put', { actor: 7 }),
    })
  const find = (world: StoreWorld) =>
    world.store.findDefinition({ projectId: world.project, name: 'etl' })

  test(
    'a definition is put, found and listed by name; names without a definition are not listed',
    inWorld(async (world) => {
      assert.equal(await find(world), null)
      assert.deepEqual(await put(world, '{"run":"a"}'), { kind: 'put', version: 1 })
      const found = await find(world)
      const { id } = found ?? { id: 0 }
      assert.deepEqual(found, {
        id,
        name: 'etl',
        version: 1,
        definition: '{"run":"a"}',
        paused: null,
        createdAt: world.clock.now(),
        createdBy: 7,
      })
      assert.equal(await world.store.findJob({ projectId: world.project, name: 'etl' }), id)
      const findJobs = (projectId: number, ...names: string[]) =>
        world.store.findJobs({ projectId, names })
      assert.deepEqual(await findJobs(world.project, 'no-such-job', 'etl', 'etl'), [id])
      assert.deepEqual(await findJobs(world.otherProject, 'etl'), [])
      assert.deepEqual(await findJobs(world.project), [])
      const list = (after: string) =>
        world.store.listDefinitions({ projectId: world.project, after, limit: 10 })
      assert.deepEqual(await list(''), [found])
      assert.deepEqual(await list('etl'), [])
      assert.equal(
        await world.store.findDefinition({ projectId: world.otherProject, name: 'etl' }),
        null,
      )
    }),
  )

  test(
    'a changed definition is a new version, an identical put is not; old versions stay',
    inWorld(async (world) => {
      await put(world, 'one')
      world.clock.advance(1_000)
      assert.deepEqual(await put(world, 'two'), { kind: 'put', version: 2 })
      assert.deepEqual(await put(world, 'two'), { kind: 'same', version: 2 })
      const jobId = (await find(world))!.id
      const versions = await world.store.jobVersions({ jobId, before: NEVER_VERSION, limit: 9 })
      assert.deepEqual(
        versions.map(({ version, definition }) => [version, definition]),
        [
          [2, 'two'],
          [1, 'one'],
        ],
      )
      assert.equal((await world.store.jobVersions({ jobId, before: 2, limit: 9 })).length, 1)
      const keys = [2, 3, 1].map((version) => ({ jobId, version }))
      assert.deepEqual(await world.store.definitionsOf(keys), ['two', null, 'one'])
      assert.deepEqual(await world.store.definitionsOf([]), [])
      assert.deepEqual(await actions(world), ['job.put', 'job.put'])
    }),
  )

  test(
    'a put that expects another version than the one in force changes nothing',
    inWorld(async (world) => {
      assert.deepEqual(await put(world, 'one', 1), { kind: 'conflict', version: 0 })
      assert.deepEqual(await put(world, 'one', 0), { kind: 'put', version: 1 })
      assert.deepEqual(await put(world, 'two', 0), { kind: 'conflict', version: 1 })
      assert.deepEqual(await put(world, 'two', 1), { kind: 'put', version: 2 })
      assert.equal((await find(world))?.definition, 'two')
      assert.equal((await actions(world)).length, 2)
    }),
  )

  test(
    'two concurrent puts create two versions, and one of them is in force',
    inWorld(async (world) => {
      const puts = await Promise.all(['a', 'b', 'c'].map((text) => put(world, text)))
      assert.deepEqual(
        puts.map((one) => ('version' in one ? one.version : 0)).toSorted((a, b) => a - b),
        [1, 2, 3],
      )
      assert.equal((await find(world))?.version, 3)
    }),
  )

  test(
    'a deleted definition is no longer in force, its runs still find it, and a new one continues the version numbers',
    inWorld(async (world) => {
      await put(world, 'one')
      const jobId = (await find(world))!.id
      const remove = (expect: number | null) =>
        world.store.deleteJob({
          projectId: world.project,
          name: 'etl',
          expect,
          audit: note(world, 'job.delete'),
        })
      assert.equal(await remove(2), 'conflict')
      assert.equal(await remove(1), 'deleted')
      assert.equal(await remove(null), 'unknown')
      assert.equal(await find(world), null)
      assert.deepEqual(await world.store.definitionsOf([{ jobId, version: 1 }]), ['one'])
      assert.deepEqual(await put(world, 'one', 0), { kind: 'put', version: 2 })
      assert.deepEqual(await actions(world), ['job.put', 'job.delete', 'job.put'])
    }),
  )

  test(
    'a paused job has a time and a reason; deleting the job removes the pause',
    inWorld(async (world) => {
      const pause = (reason: string | null, isPause = true) =>
        world.store.pauseJob({
          projectId: world.project,
          name: 'etl',
          pause: isPause ? { reason } : null,
          audit: note(world, isPause ? 'job.pause' : 'job.resume'),
        })
      assert.equal(await pause('x'), false)
      await put(world, 'one')
      assert.equal(await pause('database moves'), true)
      const at = world.clock.now()
      assert.deepEqual((await find(world))?.paused, { at, reason: 'database moves' })
      assert.equal(await pause(null, false), true)
      assert.equal((await find(world))?.paused, null)
      assert.deepEqual(await actions(world), ['job.resume', 'job.pause', 'job.put'])
    }),
  )
}

/** Larger than any version, and small enough for the column. */
const NEVER_VERSION = 2 ** 31 - 1

export function administrationContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)

  test(
    'a token is found by its digest only',
    inWorld(async (world) => {
      const given = newToken(world, { expiresAt: 5, createdBy: 3 })
      const id = await world.store.createToken(given)
      const { audit: _, ...asked } = given
      assert.deepEqual(await world.store.findToken(given.hash), {
        ...asked,
        id,
        createdAt: world.clock.now(),
        revokedAt: null,
        lastUsedAt: null,
      })
      assert.equal(await world.store.findToken('another'), null)
      assert.deepEqual(await actions(world), ['token.create'])
    }),
  )

  test(
    'tokens are listed per project, newest first, or all of them',
    inWorld(async (world) => {
      const mine = [
        await world.store.createToken(newToken(world)),
        await world.store.createToken(newToken(world, { name: 'second' })),
      ]
      await world.store.createToken(newToken(world, { projectId: world.otherProject }))
      const everywhere = await world.store.createToken(newToken(world, { projectId: null }))
      const list = async (projectId: number | null) =>
        (await world.store.listTokens({ projectId })).map(({ id }) => id)
      assert.deepEqual(await list(world.project), mine.toReversed())
      assert.ok((await list(null)).includes(everywhere))
    }),
  )

  test(
    'a token is revoked once, within its project, and stays listed',
    inWorld(async (world) => {
      const given = newToken(world)
      const id = await world.store.createToken(given)
      const revoke = (projectId: number | null) =>
        world.store.revokeToken({ id, projectId, audit: note(world, 'token.revoke') })
      assert.equal(await revoke(world.otherProject), false)
      assert.equal(await revoke(world.project), true)
      assert.equal(await revoke(null), false)
      assert.equal((await world.store.findToken(given.hash))?.revokedAt, world.clock.now())
      assert.deepEqual(await actions(world), ['token.revoke', 'token.create'])
    }),
  )

  test(
    'the last use of a token only moves forward',
    inWorld(async (world) => {
      const given = newToken(world)
      const id = await world.store.createToken(given)
      const lastUse = async () => (await world.store.findToken(given.hash))?.lastUsedAt
      await world.store.touchTokens([{ id, at: 50 }])
      await world.store.touchTokens([{ id, at: 40 }])
      assert.equal(await lastUse(), 50)
      await world.store.touchTokens([])
    }),
  )

  test(
    'the latest settings of a queue apply',
    inWorld(async (world) => {
      const put = (paused: boolean, maxTimeoutMs: number | null) =>
        world.store.putQueue({
          projectId: world.project,
          name: 'mail',
          paused,
          defaultTimeoutMs: 2 ** 40,
          maxTimeoutMs,
          rate: null,
          audit: note(world, 'queue.put'),
        })
      const mine = async () =>
        (await world.store.listQueues()).filter(({ projectId }) => projectId === world.project)
      assert.deepEqual(await mine(), [])
      await put(true, null)
      await put(false, 9)
      assert.deepEqual(await mine(), [
        {
          projectId: world.project,
          name: 'mail',
          paused: false,
          defaultTimeoutMs: 2 ** 40,
          maxTimeoutMs: 9,
          rate: null,
          bucket: { level: 0, at: 0 },
        },
      ])
      assert.deepEqual(await actions(world), ['queue.put', 'queue.put'])
    }),
  )

  test(
    'lanes with ready runs report how many',
    inWorld(async (world) => {
      const depthOf = async (laneId: number) =>
        (await world.store.laneDepths()).find((lane) => lane.laneId === laneId)?.ready
      assert.equal(await depthOf(world.lane), undefined)
      await world.submit(...world.newRuns(3))
      assert.equal(await depthOf(world.lane), 3)
      await world.claim(1)
      assert.equal(await depthOf(world.lane), 2)
    }),
  )

  test(
    'the audit log is read backwards, page by page, and by project',
    inWorld(async (world) => {
      for (const action of ['a.1', 'a.2', 'a.3']) {
        await world.store.createToken(newToken(world, { audit: note(world, action) } as object))
      }
      const elsewhere = note(world, 'a.4', { projectId: null, actor: 2, detail: '{"a":1}' })
      await world.store.createToken(newToken(world, { audit: elsewhere } as object))
      const page = (projectId: number | null, before: number, limit: number) =>
        world.store.listAudit({ projectId, before, limit })
      const [third, second] = await page(world.project, NEVER, 2)
      assert.deepEqual([third?.action, second?.action], ['a.3', 'a.2'])
      assert.equal(only(await page(world.project, second!.id, 9)).action, 'a.1')
      const newest = only(await page(null, NEVER, 1))
      assert.deepEqual(newest, { ...elsewhere, id: newest.id, at: world.clock.now() })
    }),
  )

  test(
    'a cancel that changes something is audited, one that changes nothing is not',
    inWorld(async (world) => {
      const { project: projectId } = world
      const waiting = world.newRun()
      await world.submit(waiting)
      const cancel = (runId: number) =>
        world.tick({ cancels: [{ runId, projectId, audit: note(world, 'run.cancel') }] })
      await cancel(waiting.id)
      await cancel(waiting.id)
      await cancel(world.mint())
      assert.deepEqual(await actions(world), ['run.cancel'])
      const lease = await world.start()
      await cancel(lease.runId)
      assert.equal((await actions(world)).length, 2)
    }),
  )

  test(
    'sessions of live nodes are listed with their offer and their running attempts',
    inWorld(async (world) => {
      const { store, node, session } = world
      const mine = async () => (await store.listSessions()).filter(({ id }) => id === session)
      assert.deepEqual(await mine(), [])
      const offer = '{"slots":4}'
      await adoptInto(store, { node, session, offer })
      const listed = { id: session, name: 'w', offer, since: world.clock.now(), node }
      const idle = { nodeName: 'node', running: 0, used: 0, quarantined: null }
      assert.deepEqual(await mine(), [{ ...listed, ...idle }])
      const spec = { project: world.projectName, queue: 'q', labels: [], executor: 'x', weight: 3 }
      const laneId = only(await store.internLanes([spec]))
      await world.submit(...world.newRuns(2, { laneId }))
      await world.claim(2, { laneId })
      const { running, used } = only(await mine())
      assert.deepEqual([running, used], [2, 6])
      const quarantine = (registration: number, reason: string | null) =>
        store.quarantineSession({ session, registration, reason })
      await quarantine(9, 'of another life')
      assert.equal(only(await mine()).quarantined, null)
      await quarantine(1, 'no shell')
      assert.equal(only(await mine()).quarantined, 'no shell')
      await store.markSessionLost({ session, registration: 9 })
      assert.equal((await mine()).length, 1)
      await store.markSessionLost({ session, registration: 1 })
      assert.deepEqual(await mine(), [])
      await adoptInto(store, { node, session, registration: 2, offer })
      assert.equal(only(await mine()).quarantined, null)
      await store.forgetSession({ session, registration: 2 })
      assert.deepEqual(await mine(), [])
    }),
  )
}
