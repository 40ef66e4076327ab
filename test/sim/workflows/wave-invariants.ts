import type { FlowBook, FlowStory } from './workflow-tracker.ts'

/** Waves of a job are numbered from 1 without gaps, and one that repeats another has its number. */
export function createWaveLaws(
  book: FlowBook,
  violate: (law: string, detail: string) => void,
): { began(story: FlowStory): void } {
  const last = new Map<string, number>()
  return {
    began(story) {
      const { flowId, wave, drawn, retryOf } = story
      const { name, isGated } = drawn
      const repeated = retryOf === null ? undefined : book.all.get(retryOf)
      const expected = repeated?.wave ?? (last.get(name) ?? 0) + 1
      if (!repeated) last.set(name, expected)
      if (wave !== expected) {
        violate('waves are counted', `${name}: flow ${flowId} is wave ${wave}, not ${expected}`)
      }
      const others = book.open().filter((other) => other !== story && other.drawn === drawn)
      if (!isGated || others.length === 0) return
      const detail = `${name}: flow ${flowId} began while ${others[0]?.flowId} was open`
      violate('waves overlap', detail)
    },
  }
}
