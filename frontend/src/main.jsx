import "@xyflow/react/dist/base.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.jsx";
import "./studio.css";

createRoot(document.getElementById("root")).render(<App />);
