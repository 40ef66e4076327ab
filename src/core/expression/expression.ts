/** What expressions are evaluated to: plain JSON, never an object with a behaviour of its own. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }

/**
 * What stands between `${{` and `}}`, as a tree. It is as deep as its brackets and no deeper: chains of
 * members and of operators are lists, so that walking it needs no stack worth speaking of.
 */
export type Node =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'input' }
  | { readonly kind: 'run'; readonly fact: RunFact }
  | { readonly kind: 'step'; readonly step: string; readonly fact: 'output' | 'state' }
  | { readonly kind: 'after'; readonly fact: AfterFact }
  | { readonly kind: 'item' }
  | { readonly kind: 'index' }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'path'; readonly of: Node; readonly keys: readonly Node[] }
  | { readonly kind: 'not'; readonly of: Node }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Node[] }
  | {
      readonly kind: 'compare'
      readonly by: Comparison
      readonly left: Node
      readonly right: Node
    }
  | { readonly kind: 'call'; readonly name: string; readonly given: readonly Node[] }

export const COMPARISONS = ['==', '!=', '<=', '>=', '<', '>'] as const
export type Comparison = (typeof COMPARISONS)[number]

/** What can be asked of the run that the expression is evaluated for. */
export const RUN_FACTS = [
  'id',
  'job',
  'project',
  'wave',
  'scheduled_at',
  'scheduled_at.date',
  'scheduled_at.time',
  'scheduled_at.year',
  'scheduled_at.month',
  'scheduled_at.day',
  'scheduled_at.hour',
  'scheduled_at.minute',
  'scheduled_at.weekday',
] as const
export type RunFact = (typeof RUN_FACTS)[number]

/** What can be asked of the run that another one follows. */
export const AFTER_FACTS = ['run', 'job', 'state', 'input', 'output'] as const
export type AfterFact = (typeof AFTER_FACTS)[number]

/** An expression that was read and checked. */
export interface Expression {
  readonly root: Node
  /** What stood between the brackets, for messages. */
  readonly text: string
  /** Where it stands, such as `steps.load.with.date`. */
  readonly field: string
  /** Steps whose output has to be known before it can be evaluated. */
  readonly steps: readonly string[]
}

/**
 * JSON in which texts may be expressions, or texts with expressions between them. A value that is an
 * expression as a whole keeps its type.
 */
export type Template =
  | { readonly kind: 'constant'; readonly value: Json }
  | { readonly kind: 'expression'; readonly expression: Expression }
  | { readonly kind: 'text'; readonly parts: readonly (string | Expression)[] }
  | { readonly kind: 'list'; readonly items: readonly Template[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Template])[] }
