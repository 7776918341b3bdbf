/** How something stands, as the colour of its tag on pages. */
export type Mood = "good" | "bad" | "wait" | ""
