import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WorkflowRecord } from '../../port.ts'
import { sortedNumbers, chunks, endCommandFor, ids, only, runIds } from '../fixture.ts'
import {
  SUCCEEDED_OUTCOME,
  type ContractWorkflowWorld,
  transitionFrom,
  withWorkflows,
} from './workflow-fixture.ts'
import { onSharedStore, type OpenStore } from '../world.ts'

const CALLERS = 6

async function atOnce<T>(work: (caller: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: CALLERS }, (_, caller) => work(caller)))
}

async function beginMany(
  world: ContractWorkflowWorld,
  count: number,
): Promise<readonly WorkflowRecord[]> {
  await world.submit(...world.newRuns(count, { laneId: world.workflowLane }))
  return world.beginAll()
}

export function concurrentWorkflowsContract(open: OpenStore): void {
  const inWorld = onSharedStore(open)
  const inWorkflows = (body: (world: ContractWorkflowWorld) => Promise<void>) =>
    inWorld(async (world) => body(await withWorkflows(world)))

  test(
    'workflows begun by many nodes at once each begin once, with their own wave',
    inWorkflows(async (world) => {
      const runs = world.newRuns(24, { laneId: world.workflowLane })
      await world.submit(...runs)
      const begun = (await atOnce(() => world.beginAll(5))).flat()
      begun.push(...(await world.beginAll()))
      assert.deepEqual(sortedNumbers(runIds(begun)), ids(runs))
      assert.equal(new Set(begun.map(({ wave }) => wave)).size, runs.length)
    }),
  )

  test(
    'a workflow advanced by many nodes at once starts each step once',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      const answers = await atOnce(() => {
        const starts = [{ step: 0, item: -1, run: world.newRun() }]
        return world.advance(transitionFrom(workflow, { starts }))
      })
      const verdicts = answers.flatMap((answer) => answer.verdicts)
      assert.deepEqual(verdicts.toSorted(), ['advanced', ...Array(CALLERS - 1).fill('behind')])
      assert.equal((await world.steps(workflow.runId)).length, 1)
      assert.equal((await world.claim(CALLERS)).length, 1)
    }),
  )

  test(
    'steps that end at the same instant are all signalled, and every reader sees them all',
    inWorkflows(async (world) => {
      const { workflow } = await world.beginWith(CALLERS * 2)
      const leases = chunks(await world.claim(CALLERS * 2), 2)
      const results = await atOnce((caller) =>
        world.tick({ ends: (leases[caller] ?? []).map((lease) => endCommandFor(lease)) }),
      )
      const signals = results.flatMap((result) => result.signals)
      assert.equal(signals.length, CALLERS * 2)
      const steps = await world.steps(workflow.runId)
      assert.ok(steps.every(({ state, isUnprocessed }) => state === 'succeeded' && isUnprocessed))
    }),
  )

  test(
    'concurrent transitions, ends and cancels of many workflows never deadlock',
    inWorkflows(async (world) => {
      const gates = [await world.gate('narrow', 3)]
      const workflows = await beginMany(world, 8)
      const open = async () =>
        world.store.findWorkflows({ runIds: workflows.map(({ runId }) => runId) })
      for (let round = 0; round < 6; round += 1) {
        const now = await open()
        const leases = await world.claim(20)
        await Promise.all([
          ...[now, now.toReversed()].map((list) =>
            world.advance(
              ...list.map((workflow) => {
                const run = world.newRun({ gates })
                return transitionFrom(workflow, {
                  starts: [{ step: workflow.revision, item: -1, run }],
                })
              }),
            ),
          ),
          world.tick({ ends: leases.map((lease) => endCommandFor(lease)) }),
          world.tick({
            cancels: now.slice(round, round + 2).map(({ runId }) => ({
              runId,
              projectId: world.project,
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
    'a cancel that meets the end of its workflow comes before it or after it, never between',
    inWorkflows(async (world) => {
      const workflows = await beginMany(world, 10)
      for (const workflow of workflows) {
        const [{ verdicts }, verdict] = await Promise.all([
          world.advance(transitionFrom(workflow, { end: SUCCEEDED_OUTCOME })),
          world.cancel(workflow.runId),
        ])
        const isEnded = only(verdicts) === 'advanced'
        assert.equal(verdict.kind, isEnded ? 'final' : 'marked')
        assert.equal(await world.stateOf(workflow.runId), isEnded ? 'succeeded' : 'running')
      }
    }),
  )

  test(
    'a cancel that meets the beginning of its workflow finds it in one place',
    inWorkflows(async (world) => {
      for (let round = 0; round < 10; round += 1) {
        const run = world.newRun({ laneId: world.workflowLane })
        await world.submit(run)
        const [begun, verdict] = await Promise.all([world.beginAll(), world.cancel(run.id)])
        assert.equal(verdict.kind, begun.length === 1 ? 'marked' : 'cancelled')
      }
    }),
  )
}
