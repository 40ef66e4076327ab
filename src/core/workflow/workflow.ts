import type { Expression, Template } from '../expression/expression.ts'
import type { Edges } from './edges.ts'
import type { WireSubmission } from '../wire/runs.ts'
import type { ParameterInput, When } from './definition.ts'

/** A workflow that was read and found to be in order: what the engine works with. */
export interface Workflow {
  /** In the order they were written in. */
  readonly steps: readonly Step[]
  /** What each step waits for; without what every `finally` step waits for anyway. */
  readonly needs: Edges
  readonly parameters: readonly Parameter[]
  readonly gates: readonly Gate[]
  /** What a run of it gives that ends well. */
  readonly output: Template | null
}

export interface Step {
  readonly name: string
  readonly when: When
  readonly condition: Expression | null
  /** A list of the items to run for, one run each. */
  readonly each: Template | null
  /** Of the items, so many at once; null for any number. */
  readonly maxParallel: number | null
  readonly isFinally: boolean
  /** Its failure is not the workflow's. */
  readonly mayFail: boolean
  readonly does: StepWork
}

export type StepWork =
  | { readonly kind: 'submit'; readonly work: WorkTemplate }
  | { readonly kind: 'job'; readonly job: string; readonly work: WorkTemplate }
  | { readonly kind: 'approve'; readonly approval: Approval }

/** A submission that waits for its expressions. `resolveStep` makes a real one of it. */
export interface WorkTemplate {
  /** Where the step stands, such as `steps.load.`. */
  readonly at: string
  /** As people write it, with a sample where an expression stands. */
  readonly sample: WireSubmission
  /** The expressions, by the path where they belong, such as `['env', 'DATE']`. */
  readonly holes: readonly Hole[]
  /** What a shell finds in its variables, because its text names them. */
  readonly variables: readonly (readonly [name: string, value: Expression])[]
}

export interface Hole {
  readonly path: readonly (string | number)[]
  readonly template: Template
  /** What it becomes: any value, text, or text that is an address. */
  readonly as: 'value' | 'text' | 'address'
}

export interface Approval {
  readonly by: readonly string[]
  readonly message: Template | null
  readonly timeoutMs: number | null
  readonly parameters: readonly Parameter[]
}

export interface Parameter extends Omit<ParameterInput, 'default' | 'required'> {
  readonly name: string
  readonly isRequired: boolean
  readonly default: Template | null
}

export interface Gate {
  readonly key: Template
  readonly limit: number
}
