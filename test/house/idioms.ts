/**
 * Phrases that a reader has to decode, with the plain words for them. Texts that users read, comments
 * and docs are searched for them, upper and lower case alike; `idioms.test.ts` holds the counts.
 */
export const idioms: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [
    /\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b)[a-z`"'“]\S*/gi,
    'is not a …; … does not exist',
  ],
  [/\bthat (?:is|are) none\b/gi, 'that is not one'],
  [/\b(?:whoever|nobody|somebody)\b/gi, 'name the person or thing'],
  [/\bin (?:the place|stead) of\b/gi, 'instead of, for'],
  [/\bof (?:its|their|his|her|one’s|one's|our) own\b/gi, 'its own …, separate'],
  [/\b(?:is|are|was|be|been) told\b/gi, 'receives, gets, is reported'],
  [/\bstands?\b(?! ?-?(?:ins?|alone)\b)/gi, 'is in, is at, applies'],
  [/\bstood\b/gi, 'was in, was at'],
  [/\b(?:lies|lie)\b/gi, 'is in, is at'],
  [/\bbesides?\b/gi, 'next to, also, except'],
  [/\banew\b/gi, 'again'],
  [/\bamiss\b/gi, 'wrong'],
  [/\bcomes? to (?:be|nothing|pass|the same)\b/gi, 'becomes, is'],
  [/\b(?:comes to|comes? of|goes by)\b/gi, 'is, results from, uses'],
  [/\bthe latter\b|\bthe former\b/gi, 'name it'],
  [/\bas usual\b/gi, 'default'],
  [/\bwritten down\b/gi, 'recorded'],
  [/\bhalf (?:are|is) (?:faster|slower)\b/gi, 'median'],
]
