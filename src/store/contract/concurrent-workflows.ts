import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FlowRecord } from '../port.ts'
import { ascending, chunks, endOf, ids, only, runIds } from './fixture.ts'
import { ENDED_WELL, type FlowWorld, move, withFlows } from './workflow-fixture.ts'
import { onSharedStore, type OpenStore } from './world.ts'

const CALLERS = 6

async function atOnce<T>(work: (caller: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: CALLERS }, (_, caller) => work(caller)))
}

async function beginMany(world: FlowWorld, count: number): Promise<readonly FlowRecord[]> {
  await world.submit(...world.newRuns(count, { laneId: world.flowLane }))
  return world.beginAll()
}

export function flowsSideBySideContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const inFlows = (body: (world: FlowWorld) => Promise<void>) =>
    inWorld(async (world) => body(await withFlows(world)))

  test(
    'however many begin flows at once, each begins once and has a wave of its own',
    inFlows(async (world) => {
      const runs = world.newRuns(24, { laneId: world.flowLane })
      await world.submit(...runs)
      const begun = (await atOnce(() => world.beginAll(5))).flat()
      begun.push(...(await world.beginAll()))
      assert.deepEqual(ascending(runIds(begun)), ids(runs))
      assert.equal(new Set(begun.map(({ wave }) => wave)).size, runs.length)
    }),
  )

  test(
    'however many go on with a flow at once, a step starts once',
    inFlows(async (world) => {
      const flow = await world.begin()
      const answers = await atOnce(() => {
        const starts = [{ step: 0, item: -1, run: world.newRun() }]
        return world.advance(move(flow, { starts }))
      })
      const verdicts = answers.flatMap((answer) => answer.verdicts)
      assert.deepEqual(verdicts.toSorted(), ['advanced', ...Array(CALLERS - 1).fill('behind')])
      assert.equal((await world.steps(flow.runId)).length, 1)
      assert.equal((await world.claim(CALLERS)).length, 1)
    }),
  )

  test(
    'steps that end at the same instant are all told, and all of them are there for whoever looks',
    inFlows(async (world) => {
      const { flow } = await world.beginWith(CALLERS * 2)
      const leases = chunks(await world.claim(CALLERS * 2), 2)
      const results = await atOnce((caller) =>
        world.tick({ ends: (leases[caller] ?? []).map((lease) => endOf(lease)) }),
      )
      const news = results.flatMap((result) => result.news)
      assert.equal(news.length, CALLERS * 2)
      const steps = await world.steps(flow.runId)
      assert.ok(steps.every(({ state, isNews }) => state === 'succeeded' && isNews))
    }),
  )

  test(
    'moves, ends and cancels of many flows, all at once, wait for nobody for ever',
    inFlows(async (world) => {
      const gates = [await world.gate('narrow', 3)]
      const flows = await beginMany(world, 8)
      const open = async () => world.store.findFlows({ runIds: flows.map(({ runId }) => runId) })
      for (let round = 0; round < 6; round += 1) {
        const now = await open()
        const leases = await world.claim(20)
        await Promise.all([
          ...[now, now.toReversed()].map((list) =>
            world.advance(
              ...list.map((flow) => {
                const run = world.newRun({ gates })
                return move(flow, { starts: [{ step: flow.revision, item: -1, run }] })
              }),
            ),
          ),
          world.tick({ ends: leases.map((lease) => endOf(lease)) }),
          world.tick({
            cancels: now.slice(round, round + 2).map(({ runId }) => ({
              ...{ runId, projectId: world.project },
            })),
          }),
        ])
      }
      for (const { runId, revision } of await open()) {
        const steps = await world.steps(runId)
        assert.equal(new Set(steps.map(({ step }) => step)).size, steps.length)
        assert.ok(steps.length >= 4 && steps.length <= revision, `${steps.length} of ${revision}`)
      }
    }),
  )

  test(
    'a cancel that meets the end of its flow comes before it or after it, never between',
    inFlows(async (world) => {
      const flows = await beginMany(world, 10)
      for (const flow of flows) {
        const [{ verdicts }, verdict] = await Promise.all([
          world.advance(move(flow, { end: ENDED_WELL })),
          world.cancel(flow.runId),
        ])
        const isEnded = only(verdicts) === 'advanced'
        assert.equal(verdict.kind, isEnded ? 'final' : 'marked')
        assert.equal(await world.stateOf(flow.runId), isEnded ? 'succeeded' : 'running')
      }
    }),
  )

  test(
    'a cancel that meets the beginning of its flow finds it in one place',
    inFlows(async (world) => {
      for (let round = 0; round < 10; round += 1) {
        const run = world.newRun({ laneId: world.flowLane })
        await world.submit(run)
        const [begun, verdict] = await Promise.all([world.beginAll(), world.cancel(run.id)])
        assert.equal(verdict.kind, begun.length === 1 ? 'marked' : 'cancelled')
      }
    }),
  )
}
