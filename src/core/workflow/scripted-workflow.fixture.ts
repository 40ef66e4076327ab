import { type Decision, type Stop } from './decision.ts'
import { type StepFact, type StepReason, WHOLE } from './step-facts.ts'
import { compileGraph, type GraphStep } from './graph.ts'
import { createProgress, type Progress } from './progress.ts'
import { type When, WHENS } from './definition.ts'

/**
 * Flows as tests tell them. A step is a line such as `c: a b, any-failed, may fail`; news and decisions
 * are lines such as `a failed`, `start b`, `skip c needs`.
 */
export function readSteps(lines: readonly string[]): {
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
    const most = traits.find((trait) => trait.startsWith('most '))
    return {
      needs: needs.map((need) => names.indexOf(need)),
      when:
        (traits.find((trait) => (WHENS as readonly string[]).includes(trait)) as When) ??
        (isFinally ? 'always' : 'all-succeeded'),
      isFinally,
      maxParallel: most === undefined ? null : Number(most.slice(5)),
      mayFail: traits.includes('may fail'),
    }
  })
  return { names, steps }
}

export interface ToldFlow {
  /** Hears the news, one after the other, and says what is decided once all are known. */
  after(...news: readonly string[]): string[]
  readonly progress: Progress
  /** The flow as somebody knows it who reads all the facts. */
  reloaded(): ToldFlow
}

export function tellFlow(lines: readonly string[], known: readonly StepFact[] = []): ToldFlow {
  const { names, steps } = readSteps(lines)
  const facts = [...known]
  const sorted = facts.toSorted((a, b) => a.step - b.step || a.item - b.item)
  const progress = createProgress(compileGraph(steps), sorted)

  const hear = (line: string) => {
    const [subject, why] = line.split(' ')
    if (subject === 'stop') return progress.stop(why as Stop)
    const fact = readFact(names, line)
    facts.push(fact)
    progress.hear(fact)
  }
  const write = (decision: Decision): string => {
    if (decision.to === 'end') return `end ${decision.state} ${decision.cause ?? ''}`.trim()
    const name = names[decision.step]
    if (decision.to === 'start') {
      return decision.item === WHOLE ? `start ${name}` : `start ${name}.${decision.item}`
    }
    const { step } = decision
    const state = decision.to === 'skip' ? 'skipped' : decision.state
    const reason = decision.to === 'skip' ? decision.reason : null
    facts.push({ step, item: WHOLE, state, reason, count: null })
    return `${decision.to} ${name} ${reason ?? state}`
  }
  return {
    after(...news) {
      for (const line of news) hear(line)
      return progress.next(1_000).map(write)
    },
    progress,
    reloaded: () => tellFlow(lines, facts),
  }
}

/** `a ok`, `a.3 failed`, `a skipped condition`; `a of 5`, or `a failed of 5`, for a fan-out. */
export function readFact(names: readonly string[], line: string): StepFact {
  const [subject = '', ...words] = line.split(' ')
  const [name = '', item] = subject.split('.')
  const of = words.indexOf('of')
  const [state = 'running', reason] = of === -1 ? words : words.slice(0, of)
  return {
    step: names.indexOf(name),
    item: item === undefined ? WHOLE : Number(item),
    state: state === 'ok' ? 'succeeded' : (state as StepFact['state']),
    reason: (reason as StepReason | undefined) ?? null,
    count: of === -1 ? null : Number(words[of + 1]),
  }
}
