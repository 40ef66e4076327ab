import type { Expression, Template } from '../expression/expression.ts'
import type { Edges } from './edges.ts'
import type { WireSubmission } from '../wire/runs.ts'
import type { ParameterInput, StepRule } from './definition.ts'

/** A valid workflow in the form that the engine uses. */
export interface Workflow {
  /** In written order. */
  readonly steps: readonly Step[]
  /** The needs of each step; without the implicit needs of `finally` steps. */
  readonly needs: Edges
  readonly parameters: readonly Parameter[]
  readonly gates: readonly Gate[]
  /** The output of a successful run. */
  readonly output: Template | null
}

export interface Step {
  readonly name: string
  readonly when: StepRule
  readonly condition: Expression | null
  /** The list of items; the step has one run for each. */
  readonly each: Template | null
  /** Maximum number of concurrent items; null for no limit. */
  readonly maxParallel: number | null
  readonly isFinally: boolean
  /** A failure of the step does not fail the workflow. */
  readonly mayFail: boolean
  readonly does: StepWork
}

export type StepWork =
  | { readonly kind: 'submit'; readonly work: WorkTemplate }
  | { readonly kind: 'job'; readonly job: string; readonly work: WorkTemplate }
  | { readonly kind: 'approve'; readonly approval: Approval }

/** A submission with expressions that are not evaluated yet. `resolveWork` evaluates them. */
export interface WorkTemplate {
  /** The field prefix of the step, such as `steps.load.`. */
  readonly at: string
  /** The submission as users write it, with samples in place of expressions. */
  readonly sample: WireSubmission
  /** The expressions and their paths in the submission, such as `['env', 'DATE']`. */
  readonly placeholders: readonly Placeholder[]
  /** Variables that replace expressions in shell text. */
  readonly variables: readonly (readonly [name: string, value: Expression])[]
}

export interface Placeholder {
  readonly path: readonly (string | number)[]
  readonly template: Template
  /** How the value is used: as any value, as text, or as text of a URL. */
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
