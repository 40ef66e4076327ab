import { type Decision, type WorkflowStopReason } from './decision.ts'
import { type StepFact, type StepReason, WHOLE_STEP } from './step-facts.ts'
import { compileGraph, type GraphStep } from '../graph.ts'
import { createWorkflowProgress, type WorkflowProgress } from './progress.ts'
import { type StepRule, STEP_RULES } from '../definition.ts'

/**
 * Workflows as test scripts. A step is a line such as `c: a b, any-failed, may fail`; facts and decisions are lines
 * such as `a failed`, `start b`, `skip c needs`.
 */
export function parseSteps(lines: readonly string[]): {
  names: readonly string[]
  steps: readonly GraphStep[]
} {
  const read = lines.map((line) => {
    const [head = '', ...traits] = line.split(',').map((part) => part.trim())
    const [name = '', needs = ''] = head.split(':')
    return { name, needs: needs.split(' ').filter(Boolean), traits }
  })
  const names = read.map(({ name }) => name)
  const steps = read.map(({ needs, traits }): GraphStep => {
    const isFinally = traits.includes('finally')
    const limit = traits.find((trait) => trait.startsWith('max '))
    return {
      needs: needs.map((need) => names.indexOf(need)),
      when:
        (traits.find((trait) => (STEP_RULES as readonly string[]).includes(trait)) as StepRule) ??
        (isFinally ? 'always' : 'all-succeeded'),
      isFinally,
      maxParallel: limit === undefined ? null : Number(limit.slice(4)),
      mayFail: traits.includes('may fail'),
    }
  })
  return { names, steps }
}

export interface ScriptedWorkflow {
  /** Applies the facts in order, and returns the decisions that follow from all of them. */
  after(...news: readonly string[]): string[]
  readonly progress: WorkflowProgress
  /** The workflow as rebuilt from all facts. */
  reloaded(): ScriptedWorkflow
}

export function scriptWorkflow(
  lines: readonly string[],
  known: readonly StepFact[] = [],
): ScriptedWorkflow {
  const { names, steps } = parseSteps(lines)
  const facts = [...known]
  const sorted = facts.toSorted((a, b) => a.step - b.step || a.item - b.item)
  const progress = createWorkflowProgress(compileGraph(steps), sorted)

  const applyLine = (line: string) => {
    const [subject, why] = line.split(' ')
    if (subject === 'stop') return progress.stop(why as WorkflowStopReason)
    const fact = parseFact(names, line)
    facts.push(fact)
    progress.apply(fact)
  }
  const describeDecision = (decision: Decision): string => {
    if (decision.to === 'end') return `end ${decision.state} ${decision.cause ?? ''}`.trim()
    const name = names[decision.step]
    if (decision.to === 'start') {
      return decision.item === WHOLE_STEP ? `start ${name}` : `start ${name}.${decision.item}`
    }
    const { step } = decision
    const state = decision.to === 'skip' ? 'skipped' : decision.state
    const reason = decision.to === 'skip' ? decision.reason : null
    facts.push({ step, item: WHOLE_STEP, state, reason, count: null })
    return `${decision.to} ${name} ${reason ?? state}`
  }
  return {
    after(...news) {
      for (const line of news) applyLine(line)
      return progress.next(1_000).map(describeDecision)
    },
    progress,
    reloaded: () => scriptWorkflow(lines, facts),
  }
}

/** Parses `a ok`, `a.3 failed`, `a skipped condition`; `a of 5`, or `a failed of 5`, for a fan-out. */
export function parseFact(names: readonly string[], line: string): StepFact {
  const [subject = '', ...words] = line.split(' ')
  const [name = '', item] = subject.split('.')
  const of = words.indexOf('of')
  const [state = 'running', reason] = of === -1 ? words : words.slice(0, of)
  return {
    step: names.indexOf(name),
    item: item === undefined ? WHOLE_STEP : Number(item),
    state: state === 'ok' ? 'succeeded' : (state as StepFact['state']),
    reason: (reason as StepReason | undefined) ?? null,
    count: of === -1 ? null : Number(words[of + 1]),
  }
}
