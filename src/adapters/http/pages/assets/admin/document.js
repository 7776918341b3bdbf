import { showTimes } from "./list.js"

showTimes()
