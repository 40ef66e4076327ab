import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreError } from '../../port.ts'
import { DAY_MS, ids, only, originOf } from '../fixture.ts'
import {
  SUCCEEDED_OUTCOME,
  type ContractWorkflowWorld,
  stepMark,
  transitionFrom,
  withWorkflows,
} from './workflow-fixture.ts'
import { onFreshStores, onSharedStore, type OpenStore } from '../world.ts'

export function workflowsContract(open: OpenStore): void {
  const inAnyWorld = onSharedStore(open)
  const inWorkflows = (body: (world: ContractWorkflowWorld) => Promise<void>) =>
    inAnyWorld(async (world) => body(await withWorkflows(world)))

  test(
    'a workflow begins: its run is running without a lease',
    inWorkflows(async (world) => {
      const workflow = await world.begin({ input: '{"a":1}', version: 3, timeoutMs: 5_000 })
      const { runId, ...rest } = workflow
      assert.deepEqual(rest, {
        revision: 0,
        projectId: world.project,
        jobId: world.job,
        version: 3,
        wave: 1,
        node: world.node,
        beganAt: world.clock.now(),
        checkAt: workflow.checkAt,
        rank: 0,
        cancelling: false,
        endedAt: null,
        timeoutMs: 5_000,
        retryOf: null,
        createdBy: null,
        policy: null,
        work: null,
        tags: null,
        input: '{"a":1}',
      })
      const run = await world.find(runId)
      assert.deepEqual([run.state, run.fence, run.startedAt], ['running', null, workflow.beganAt])
      const { node, store } = world
      assert.deepEqual(await store.ownLeases({ node, after: 0, limit: 10 }), [])
      assert.deepEqual(await world.claim(1, { laneId: world.workflowLane }), [])
      assert.deepEqual(await world.beginAll(), [])
      const listed = await store.listRuns({
        projectId: world.project,
        state: 'running',
        jobId: null,
        before: Number.MAX_SAFE_INTEGER,
        limit: 10,
      })
      assert.deepEqual(ids(listed), [runId])
    }),
  )

  test(
    'the oldest ready workflow begins first, and waves are counted per job',
    inWorkflows(async (world) => {
      const other = only(
        await world.store.internJobs([{ projectId: world.project, name: 'tidy-outbox' }]),
      )
      const laneId = world.workflowLane
      const [late, urgent] = [world.newRun({ laneId }), world.newRun({ laneId, rank: -5 })]
      const elsewhere = world.newRun({ laneId, jobId: other })
      await world.submit(late, urgent, elsewhere)
      const first = await world.beginAll(2)
      assert.deepEqual(
        first.map(({ runId, wave }) => [runId, wave]),
        [
          [urgent.id, 1],
          [late.id, 2],
        ],
      )
      const { runId, wave } = only(await world.beginAll())
      assert.deepEqual([runId, wave], [elsewhere.id, 1])
    }),
  )

  test(
    'a run that retries another has its wave',
    inWorkflows(async (world) => {
      const first = await world.begin()
      await world.advance(transitionFrom(first, { end: { ...SUCCEEDED_OUTCOME, state: 'failed' } }))
      assert.equal((await world.begin()).wave, 2)
      assert.equal((await world.begin({ retryOf: first.runId })).wave, 1)
      const plain = await world.start()
      assert.equal((await world.begin({ retryOf: plain.runId })).wave, 3)
    }),
  )

  test(
    'a transition starts runs and records step states, once',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      const run = world.newRun({ work: '{"executor":"shell"}' })
      const said = stepMark(1, 'skipped', { reason: 'condition', message: 'not today' })
      const group = stepMark(2, 'running', { count: 3, detail: '[1,2,3]' })
      const asked = stepMark(3, 'waiting', { dueAt: 9_000_000 })
      const starts = [{ step: 0, item: -1, run }]
      const first = transitionFrom(workflow, {
        starts,
        marks: [said, group, asked],
        checkAt: 9_000_000,
      })
      const answer = await world.advance(first)
      assert.deepEqual(answer, {
        now: world.clock.now(),
        verdicts: ['advanced'],
        started: [],
        lanes: [world.lane],
        nextDueAt: null,
        signals: [],
      })
      assert.deepEqual((await world.advance(first)).verdicts, ['behind'])

      const { revision, checkAt } = await world.workflow(workflow.runId)
      assert.deepEqual([revision, checkAt], [1, 9_000_000])
      const now = world.clock.now()
      const record = { isUnprocessed: false, startedAt: now, finishedAt: null }
      assert.deepEqual(await world.steps(workflow.runId), [
        { ...stepMark(0, 'running', { runId: run.id }), ...record },
        { ...said, ...record, finishedAt: now },
        { ...group, ...record },
        { ...asked, ...record },
      ])
      assert.deepEqual(
        (await world.claim(5)).map(({ runId, work }) => [runId, work]),
        [[run.id, run.work]],
      )
    }),
  )

  test(
    'the run of a step is directly assigned to its reserved session, unless it has to wait',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      const promised = world.newRun({ reservation: world.reservation() })
      const later = world.newRun({
        reservation: world.reservation(),
        dueAt: world.clock.now() + 5_000,
      })
      const starts = [promised, later].map((run, step) => ({ step, item: -1, run }))
      const { started, lanes } = await world.advance(transitionFrom(workflow, { starts }))
      assert.deepEqual([started, lanes], [[promised.id], []])
      assert.deepEqual(await world.claim(5), [])
    }),
  )

  test(
    'the state of a step can be recorded again, and its start time stays',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      await world.advance(
        transitionFrom(workflow, { marks: [stepMark(0, 'waiting', { dueAt: 5 })] }),
      )
      world.clock.advance(1_000)
      const yes = stepMark(0, 'succeeded', { detail: '{"by":"ann"}' })
      // The last mark of a step counts, also within a transition.
      await world.advance(
        transitionFrom({ ...workflow, revision: 1 }, { marks: [stepMark(0, 'waiting'), yes] }),
      )
      const now = world.clock.now()
      assert.deepEqual(await world.steps(workflow.runId), [
        { ...yes, isUnprocessed: false, startedAt: now - 1_000, finishedAt: now },
      ])
    }),
  )

  test(
    'a stale transition changes nothing and does not block the others of its batch',
    inWorkflows(async (world) => {
      const [behind, ahead] = [await world.begin(), await world.begin()]
      const starts = [{ step: 0, item: -1, run: world.newRun() }]
      const stale = transitionFrom({ ...behind, revision: 7 }, { starts, end: SUCCEEDED_OUTCOME })
      const { verdicts, lanes } = await world.advance(stale, transitionFrom(ahead, { checkAt: 5 }))
      assert.deepEqual([verdicts, lanes], [['behind', 'advanced'], []])
      assert.deepEqual(await world.steps(behind.runId), [])
      assert.equal((await world.workflow(behind.runId)).revision, 0)
      const again = await world.advance(
        transitionFrom({ ...ahead, revision: 1 }),
        transitionFrom(ahead),
      )
      assert.deepEqual(again.verdicts, ['advanced', 'behind'])
    }),
  )

  test(
    'a started step is never started again',
    inWorkflows(async (world) => {
      const { workflow } = await world.beginWith(1)
      const starts = [{ step: 0, item: -1, run: world.newRun() }]
      const isRefused = (error: unknown) =>
        error instanceof StoreError && error.outcome === 'refused'
      await assert.rejects(world.advance(transitionFrom(workflow, { starts })), isRefused)
      // Nor can it be marked as ended while its run is under way.
      const marks = [stepMark(0, 'skipped')]
      await assert.rejects(world.advance(transitionFrom(workflow, { marks })), isRefused)
      assert.equal((await world.workflow(workflow.runId)).revision, workflow.revision)
      assert.equal((await world.steps(workflow.runId)).length, 1)
    }),
  )

  test(
    'runs of steps wait for their time and at their gates like others',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      const gates = [await world.gate('door', 1)]
      const dueAt = world.clock.now() + 5_000
      const [later, first, second] = [
        world.newRun({ dueAt }),
        world.newRun({ gates }),
        world.newRun({ gates }),
      ]
      const starts = [later, first, second].map((run, step) => ({ step, item: -1, run }))
      const answer = await world.advance(transitionFrom(workflow, { starts }))
      assert.deepEqual([answer.nextDueAt, answer.lanes], [dueAt, [world.lane]])
      const states = await Promise.all([later, first, second].map(({ id }) => world.stateOf(id)))
      assert.deepEqual(states, ['scheduled', 'ready', 'blocked'])
    }),
  )

  test(
    'a workflow ends like any run: its gate slots and keys are free',
    inWorkflows(async (world) => {
      const gates = [await world.gate('one wave', 1)]
      const laneId = world.workflowLane
      const workflow = await world.begin({ gates, dedupeKey: 'nightly' })
      const next = world.newRun({ gates, laneId })
      await world.submit(next)
      assert.deepEqual(await world.beginAll(), [])
      world.clock.advance(50)
      const end = { state: 'failed', cause: 'error', message: 'step 3', result: '[1]' } as const
      const { lanes } = await world.advance(transitionFrom(workflow, { end, checkAt: 5 }))
      assert.deepEqual(lanes, [laneId])
      const run = await world.find(workflow.runId)
      const { state, cause, message, result, startedAt, finishedAt, fence, attempt } = run
      assert.deepEqual({ state, cause, message, result }, end)
      assert.deepEqual([startedAt, fence, attempt], [workflow.beganAt, null, 1])
      assert.equal(finishedAt, world.clock.now())
      const { endedAt, checkAt, wave } = await world.workflow(workflow.runId)
      assert.deepEqual([endedAt, checkAt, wave], [finishedAt, null, 1])
      assert.deepEqual(
        (await world.advance(transitionFrom({ ...workflow, revision: 1 }))).verdicts,
        ['behind'],
      )
      const again = world.newRun({ laneId, dedupeKey: 'nightly' })
      assert.deepEqual(await world.submit(again), [{ kind: 'inserted' }])
      assert.deepEqual(
        (await world.beginAll()).map(({ runId }) => runId),
        [next.id, again.id],
      )
    }),
  )

  test(
    'steps of a large workflow are read page by page',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      const items = Array.from({ length: 25 }, (_, item) => stepMark(1, 'succeeded', { item }))
      await world.advance(transitionFrom(workflow, { marks: [stepMark(0, 'succeeded'), ...items] }))
      const seen: string[] = []
      for (let after: { step: number; item: number } | null = null; ;) {
        const page = await world.store.workflowSteps({
          workflowId: workflow.runId,
          after,
          limit: 10,
        })
        seen.push(...page.map(({ step, item }) => `${step}.${item}`))
        if (page.length < 10) break
        after = page.at(-1) ?? null
      }
      assert.deepEqual(seen, ['0.-1', ...items.map(({ item }) => `1.${item}`)])
    }),
  )

  test(
    'steps are counted by their state, unprocessed ends included, without items',
    inWorkflows(async (world) => {
      const { workflow } = await world.beginWith(2)
      const items = Array.from({ length: 3 }, (_, item) => stepMark(2, 'failed', { item }))
      const marks = [stepMark(2, 'running', { count: 3 }), ...items, stepMark(3, 'waiting')]
      await world.advance(transitionFrom(workflow, { marks }))
      await world.end(only(await world.claim(1)), { result: '42' })
      const counts = await world.store.countSteps({ workflowId: workflow.runId })
      assert.deepEqual(Object.fromEntries(counts.map(({ state, count }) => [state, count])), {
        running: 2,
        waiting: 1,
        succeeded: 1,
      })
      assert.deepEqual(await world.store.countSteps({ workflowId: workflow.runId + 1 }), [])
    }),
  )

  test(
    'a reused step refers to its original run, in both workflows',
    inWorkflows(async (world) => {
      const { workflow, runs } = await world.beginWith(1)
      const runId = only(ids(runs))
      await world.end(only(await world.claim(1)), { result: '42' })
      const successor = await world.begin({ retryOf: workflow.runId })
      await world.advance(
        transitionFrom(successor, { marks: [stepMark(0, 'succeeded', { runId })] }),
      )
      const found = await world.store.stepsOfRuns({ runIds: [runId] })
      assert.deepEqual(
        found.map(({ workflowId }) => workflowId).toSorted((a, b) => a - b),
        [workflow.runId, successor.runId],
      )
      // The run was created by the first workflow; the ones that reuse it did not start it.
      const origins = await world.store.originsOf({ runIds: [runId, successor.runId] })
      assert.deepEqual(origins, [originOf(runId, { workflowRunId: workflow.runId })])
      assert.deepEqual(await world.store.resultsOf({ runIds: [runId, successor.runId] }), [
        { runId, state: 'succeeded', result: '42' },
      ])
    }),
  )

  test(
    'a user action on a workflow is audited if it was applied',
    inWorkflows(async (world) => {
      const workflow = await world.begin()
      const entry = {
        projectId: world.project,
        actor: null,
        action: 'workflow.skip',
        target: 'load',
        detail: null,
        request: null,
        address: null,
      }
      await world.advance(transitionFrom({ ...workflow, revision: 4 }, { audit: entry }))
      await world.advance(transitionFrom(workflow, { audit: entry }))
      const { project: projectId, store } = world
      const filter = { projectId, before: Number.MAX_SAFE_INTEGER, limit: 10 }
      assert.equal((await store.listAudit(filter)).length, 1)
    }),
  )

  const inFreshWorld = onFreshStores(open)
  test(
    'a workflow and its steps are deleted with its run, and not before',
    inFreshWorld(async (given) => {
      const world = await withWorkflows(given)
      const { store, clock } = world
      const first = await world.begin()
      const marks = Array.from({ length: 25 }, (_, step) => stepMark(step, 'succeeded'))
      await world.advance(transitionFrom(first, { marks }))
      const live = await world.begin()
      clock.advance(DAY_MS)
      await world.advance(transitionFrom({ ...first, revision: 1 }, { end: SUCCEEDED_OUTCOME }))
      const prune = async (endedBefore: number) => {
        while ((await store.prune({ endedBefore, limit: 10 })).more);
      }
      await prune(clock.now() - 1)
      assert.equal((await world.steps(first.runId)).length, 25)
      clock.advance(20 * DAY_MS)
      await prune(clock.now())
      assert.deepEqual(await store.findWorkflows({ runIds: [first.runId] }), [])
      assert.deepEqual(await world.steps(first.runId), [])
      assert.equal((await world.workflow(live.runId)).runId, live.runId)
      assert.equal(await world.stateOf(live.runId), 'running')
    }),
  )
}
