import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idAtMs } from '../../../core/ids.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { WantedOutcome } from '../../../core/run/needs.ts'
import type {
  FollowUp,
  NewRun,
  PutJobResult,
  ScheduleRevision,
  SettledFollowUp,
} from '../../port.ts'
import { sortedNumbers, endCommandFor, only, runIds, originOf } from '../fixture.ts'
import { SUCCEEDED_OUTCOME, transitionFrom, withWorkflows } from '../workflows/workflow-fixture.ts'
import { auditOf, scheduleInput } from '../schedules/schedule-fixture.ts'
import { onSharedStore, type OpenStore, type StoreWorld } from '../world.ts'

/** The job whose runs the world creates. */
const SOURCE = 'tidy-inbox'
let serial = 0

type Sources = readonly (string | readonly [source: string, wants: WantedOutcome])[]

const follow = (world: StoreWorld, name: string, ...sources: Sources) => put(world, name, sources)

async function put(
  world: StoreWorld,
  name: string,
  sources: Sources,
  schedules?: ScheduleRevision,
): Promise<PutJobResult> {
  const follows = sources.map((one) => {
    const [source, wants] = typeof one === 'string' ? [one, 'ok' as const] : one
    return { source, cause: source.split('/')[0] as string, wants }
  })
  serial += 1
  const definition = `{"title":"${serial}"}`
  const job = { projectId: world.project, name, definition, expect: null, follows }
  const more = schedules && { schedules }
  return world.store.putJob({ ...job, ...more, audit: auditOf(world, 'job.put') })
}

async function jobId(world: StoreWorld, name: string): Promise<number> {
  return (await world.store.findJob({ projectId: world.project, name })) ?? 0
}

/** Follow-ups of this world that are not settled yet. */
async function open(world: StoreWorld): Promise<readonly FollowUp[]> {
  const all = await world.store.openFollowUps({ limit: 1_000 })
  return all.filter(({ projectId }) => projectId === world.project)
}

async function openJobs(world: StoreWorld): Promise<number[]> {
  return (await open(world)).map((one) => one.jobId)
}

function settling({ sourceRunId, jobId: id }: FollowUp, run: NewRun): SettledFollowUp {
  return { sourceRunId, jobId: id, outcome: { run: { ...run, jobId: id } } }
}

export function followersContract(openStore: OpenStore): void {
  const inWorld = onSharedStore(openStore)
  const settle = (world: StoreWorld, ...settled: SettledFollowUp[]) =>
    world.store.settleFollowUps({ node: world.node, settled })
  const giveUp = async (world: StoreWorld) => {
    const all = await open(world)
    const reason = { reason: 'not needed' }
    await settle(
      world,
      ...all.map((one) => ({ sourceRunId: one.sourceRunId, jobId: one.jobId, outcome: reason })),
    )
  }

  const ends: [
    how: string,
    end: Parameters<typeof endCommandFor>[1],
    followed: readonly WantedOutcome[],
  ][] = [
    ['a success', {}, ['ok', 'any']],
    ['a failure', { to: 'failed', cause: 'exit' }, ['notok', 'any']],
    ['another attempt', { to: 'retry', cause: 'exit' }, []],
    ['being given back', { to: 'given_back' }, []],
  ]
  for (const [how, end, followed] of ends) {
    test(
      `${how} starts ${followed.join(' and ') || 'nothing'}`,
      inWorld(async (world) => {
        for (const wants of ['ok', 'notok', 'any'] as const) {
          assert.equal((await follow(world, wants, [SOURCE, wants])).kind, 'put')
        }
        const lease = await world.start()
        const { signals } = await world.tick({ ends: [endCommandFor(lease, end)] })
        const { runId } = lease
        assert.deepEqual(signals, followed.length > 0 ? [{ kind: 'followed', runId }] : [])
        const expected = await Promise.all(followed.map((name) => jobId(world, name)))
        assert.deepEqual(sortedNumbers(await openJobs(world)), sortedNumbers(expected))
        await giveUp(world)
      }),
    )
  }

  test(
    'a follow-up names the run that ended, and a repeated report counts once',
    inWorld(async (world) => {
      await follow(world, 'report', SOURCE)
      const lease = await world.start()
      await world.end(lease)
      const again = await world.tick({ ends: [endCommandFor(lease)] })
      assert.deepEqual([again.ends, again.signals], [['replayed'], []])
      assert.deepEqual(await world.store.followUpsAfter({ runId: lease.runId }), [
        {
          sourceRunId: lease.runId,
          sourceJobId: world.job,
          projectId: world.project,
          jobId: await jobId(world, 'report'),
          state: 'succeeded',
          at: world.clock.now(),
          runId: null,
          reason: null,
          settledAt: null,
        },
      ])
      await giveUp(world)
    }),
  )

  test(
    'a cancelled or skipped run has ended as well',
    inWorld(async (world) => {
      await follow(world, 'report', [SOURCE, 'notok'])
      const waiting = world.newRun()
      await world.submit(waiting)
      const after = world.newRun({ after: [{ runId: waiting.id, wants: 'ok' }] })
      await world.submit(after)
      const cancels = [{ runId: waiting.id, projectId: world.project }]
      const { signals } = await world.tick({ cancels })
      assert.deepEqual(signals, [
        { kind: 'need', runId: after.id },
        { kind: 'followed', runId: waiting.id },
      ])
      const recheck = { limit: 0, recheckMs: 30_000, runs: [after.id] }
      const skipped = await world.store.recheck(recheck)
      assert.deepEqual(skipped.signals, [{ kind: 'followed', runId: after.id }])
      assert.deepEqual(
        (await open(world)).map(({ sourceRunId, state }) => [sourceRunId, state]),
        [
          [waiting.id, 'cancelled'],
          [after.id, 'skipped'],
        ],
      )
      await giveUp(world)
    }),
  )

  test(
    'a workflow triggers its followers, a step only the followers of that very step',
    inWorld(async (given) => {
      const world = await withWorkflows(given)
      await follow(world, 'report', SOURCE)
      await follow(world, 'archive', `${SOURCE}/load`)
      const step = await jobId(world, `${SOURCE}/load`)
      const { runId, revision } = await world.begin()
      const [plain, named] = [world.newRun(), world.newRun({ jobId: step })]
      const starts = [plain, named].map((run, nth) => ({ step: nth, item: -1, run }))
      await world.advance(transitionFrom({ runId, revision }, { starts }))
      for (const lease of await world.claim(2)) await world.end(lease)
      assert.deepEqual(
        (await open(world)).map((one) => [one.sourceRunId, one.jobId]),
        [[named.id, await jobId(world, 'archive')]],
      )
      await giveUp(world)
      const place = { runId, revision: revision + 1 }
      const { signals } = await world.advance(transitionFrom(place, { end: SUCCEEDED_OUTCOME }))
      assert.deepEqual(signals, [{ kind: 'followed', runId }])
      assert.deepEqual(await openJobs(world), [await jobId(world, 'report')])
      await giveUp(world)
    }),
  )

  test(
    'a follow-up becomes a run once, however many nodes settle it at once',
    inWorld(async (world) => {
      await follow(world, 'report', SOURCE)
      await world.end(await world.start())
      const due = only(await open(world))
      const tries = world.newRuns(5).map((run) => settling(due, run))
      const answers = await Promise.all(tries.map((one) => settle(world, one)))
      const made = only(answers.flatMap((one) => one.made))
      assert.deepEqual(
        answers.flatMap(({ lanes }) => lanes),
        [world.lane],
      )
      assert.deepEqual(runIds(await world.claim(9)), [made])
      assert.deepEqual(await open(world), [])
      const record = await world.store.followedBy({ runId: made })
      const settledAt = world.clock.now()
      assert.deepEqual(record, { ...due, runId: made, reason: null, settledAt })
      assert.deepEqual(await world.store.followUpsOf({ jobId: due.jobId, limit: 9 }), [record])
      assert.equal(await world.store.followedBy({ runId: due.sourceRunId }), null)
      const asked = { runIds: [due.sourceRunId, made] }
      assert.deepEqual(await world.store.originsOf(asked), [
        originOf(made, { afterRunId: due.sourceRunId }),
      ])
    }),
  )

  test(
    'a follow-up that creates no run records the reason',
    inWorld(async (world) => {
      await follow(world, 'report', SOURCE)
      await world.end(await world.start())
      const { sourceRunId, jobId: id } = only(await open(world))
      const outcome = { reason: 'the job is paused' }
      const { made } = await settle(world, { sourceRunId, jobId: id, outcome })
      assert.deepEqual([made, await open(world)], [[], []])
      const { runId, reason } = only(await world.store.followUpsAfter({ runId: sourceRunId }))
      assert.deepEqual([runId, reason], [null, 'the job is paused'])
    }),
  )

  test(
    'a run whose id is taken is refused with the whole call, and nothing is settled',
    inWorld(async (world) => {
      await follow(world, 'report', SOURCE)
      await world.end(await world.start())
      const taken = world.newRun()
      await world.submit(taken)
      const due = only(await open(world))
      await assert.rejects(settle(world, settling(due, taken)))
      assert.deepEqual(await open(world), [due])
      await giveUp(world)
    }),
  )

  test(
    'follow-up runs at a gate pass it, wait there, or are directly assigned to a worker',
    inWorld(async (world) => {
      const gates = [await world.gate('door', 1)]
      for (const name of ['one', 'two']) await follow(world, name, SOURCE)
      await world.end(await world.start())
      const [first, second] = world.newRuns(2, { gates })
      assert.ok(first && second)
      first.reservation = world.reservation()
      second.reservation = world.reservation()
      const [one, two] = await open(world)
      assert.ok(one && two)
      const answer = await settle(world, settling(one, first), settling(two, second))
      assert.deepEqual([answer.made, answer.started], [[first.id, second.id], [first.id]])
      assert.deepEqual(answer.lanes, [])
      const states = [await world.stateOf(first.id), await world.stateOf(second.id)]
      assert.deepEqual(states, ['running', 'blocked'])
    }),
  )

  test(
    'follow rules change with the definition, and a deleted job follows nothing',
    inWorld(async (world) => {
      const end = async () => {
        await world.end(await world.start())
        const jobs = await openJobs(world)
        await giveUp(world)
        return jobs
      }
      await follow(world, 'report', SOURCE)
      assert.deepEqual(await end(), [await jobId(world, 'report')])
      await follow(world, 'report', 'another')
      assert.deepEqual(await end(), [])
      await follow(world, 'report', 'another', SOURCE)
      assert.equal((await end()).length, 1)
      const followers = (name: string) =>
        world.store.followersOf({ projectId: world.project, name })
      assert.deepEqual([await followers(SOURCE), await followers('report')], [['report'], []])
      const audit = auditOf(world, 'job.delete')
      const remove = { projectId: world.project, name: 'report', expect: null, audit }
      assert.equal(await world.store.deleteJob(remove), 'deleted')
      assert.deepEqual([await end(), await followers(SOURCE)], [[], []])
    }),
  )

  test(
    'jobs cannot follow each other in a cycle, and the path is reported',
    inWorld(async (world) => {
      assert.deepEqual(await follow(world, 'a', 'a'), { kind: 'cycle', path: ['a', 'a'] })
      await follow(world, 'b', 'a')
      await follow(world, 'c', 'x', 'b')
      await follow(world, 'd', 'c/load')
      assert.deepEqual(await follow(world, 'a', 'y', 'd'), {
        kind: 'cycle',
        path: ['a', 'b', 'c', 'd', 'a'],
      })
      const found = await world.store.findDefinition({ projectId: world.project, name: 'a' })
      assert.equal(found, null)
      // Two paths that join are no cycle.
      assert.equal((await follow(world, 'd', 'a', 'c')).kind, 'put')
      assert.equal((await follow(world, 'x', 'a')).kind, 'put')
    }),
  )

  test(
    'of concurrent changes that would close a cycle, one is refused',
    inWorld(async (world) => {
      for (let round = 0; round < 8; round += 1) {
        const names = ['k', 'l', 'm'].map((name) => `${name}${round}`)
        const puts = names.map((name, nth) =>
          follow(world, name, names[(nth + 1) % names.length] as string),
        )
        const kinds = (await Promise.all(puts)).map(({ kind }) => kind)
        assert.deepEqual(kinds.toSorted(), ['cycle', 'put', 'put'])
      }
    }),
  )

  test(
    'a refused put changes nothing: neither schedules nor follow rules',
    inWorld(async (world) => {
      await follow(world, 'b', 'a')
      const { id, name, spec, next } = scheduleInput(world)
      const audit = auditOf(world, 'schedule.put')
      const puts = [{ id, name, spec, next, audit }]
      const schedules = { seen: [], puts, removes: [] }
      assert.equal((await put(world, 'a', ['b'], schedules)).kind, 'cycle')
      const page = { projectId: world.project, jobId: await jobId(world, 'a'), after: 0, limit: 9 }
      assert.deepEqual(await world.store.listSchedules(page), [])
      const overtaken = { ...schedules, seen: [{ id, version: 7 }] }
      assert.equal((await put(world, 'a', [SOURCE], overtaken)).kind, 'overtaken')
      const followers = { projectId: world.project, name: SOURCE }
      assert.deepEqual(await world.store.followersOf(followers), [])
    }),
  )

  test(
    'a job has a maximum number of followers, and one more is refused',
    inWorld(async (world) => {
      for (let nth = 0; nth < LIMITS.followers; nth += 1) await follow(world, `f${nth}`, SOURCE)
      assert.deepEqual(await follow(world, 'late', 'x', SOURCE), {
        kind: 'too_many',
        source: SOURCE,
      })
      assert.equal((await follow(world, 'f7', SOURCE)).kind, 'put')
      await world.end(await world.start())
      assert.equal((await open(world)).length, LIMITS.followers)
      await giveUp(world)
    }),
  )

  test(
    'a job never follows a job of another project that has the same name',
    inWorld(async (world) => {
      await follow(world, 'report', SOURCE)
      const [other = 0] = await world.store.internJobs([
        { projectId: world.otherProject, name: SOURCE },
      ])
      const run = { jobId: other, projectId: world.otherProject }
      const lease = await world.start(run)
      const { signals } = await world.tick({ ends: [endCommandFor(lease)] })
      assert.deepEqual([signals, await open(world)], [[], []])
    }),
  )

  test(
    'follow-ups settled long ago are deleted, open ones never',
    inWorld(async (world) => {
      await follow(world, 'report', SOURCE)
      const [settled, left] = [await world.start(), await world.start({ laneId: world.lane })]
      await world.end(settled)
      await giveUp(world)
      await world.end(left)
      world.clock.advance(1_000)
      const before = idAtMs(world.clock.now())
      while ((await world.store.pruneOccurrences({ before, limit: 100 })).more);
      assert.deepEqual(await world.store.followUpsAfter({ runId: settled.runId }), [])
      assert.equal((await open(world)).length, 1)
      await giveUp(world)
    }),
  )
}
