import "@xyflow/react/dist/base.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.jsx";
import { keepFocus } from "./focus.js";
import "./studio.css";

keepFocus();
createRoot(document.getElementById("root")).render(<App />);
